class Work:
    flops: int | None
    bytes: int | None
    why: str
    def __init__(self, flops: int | None, bytes: int | None, why: str = "") -> None: ...

def work_of(bytecode: str, source: object = None) -> dict[str, Work]: ...
