"""What a newcomer types first, once the wheels are installed."""
import numpy as np

import relayvm as rvm

model = rvm.compile(rvm.parse('''#[version = "0.0.5"]
def @main(%x: Tensor[(?, 64), float32], %w: Tensor[(8, 64), float32]) { nn.relu(nn.dense(%x, %w)) }''')).load()
y = model(np.ones((3, 64), "f4"), np.full((8, 64), 0.5, "f4"))
np.testing.assert_array_equal(y, np.full((3, 8), 32, "f4"))
print(f"relayvm {rvm.__version__}: a result of shape {y.shape}")
