"""scikit-learn's pipelines through skl2onnx: sessions give what scikit-learn gives. Where onnxruntime is installed, its answers too."""
import numpy as np
import pytest

pytest.importorskip("skl2onnx")
from skl2onnx import convert_sklearn  # noqa: E402
from skl2onnx.common.data_types import DictionaryType, FloatTensorType, Int64TensorType, StringTensorType  # noqa: E402
from sklearn import compose, datasets, ensemble, feature_extraction, impute, linear_model, neighbors, preprocessing, svm, tree  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402

import relayvm.onnx as ort  # noqa: E402

try:
    import onnxruntime
except ImportError:
    onnxruntime = None
pytestmark = pytest.mark.filterwarnings("ignore")  # of scikit-learn's and skl2onnx's own
IRIS, KINDS = datasets.load_iris(return_X_y=True)
IRIS = IRIS.astype(np.float32)
NAMES = np.array(["setosa", "versicolor", "virginica"])[KINDS]
TEXTS = np.array(["the cat sat on the mat", "a dog ran fast fast", "the dog and the cat", "fast cars run 24h", "cats like milk and fish"])
words = feature_extraction.text


def converted(model, inputs, **options):
    return convert_sklearn(model, "m", inputs, options={id(model): options} if options else None,
                           target_opset={"": 17, "ai.onnx.ml": 3}).SerializeToString()


def results(model, feed):
    """Those of our session; ONNX Runtime's must be the same."""
    found = ort.InferenceSession(model).run(None, feed)
    if onnxruntime is not None:
        try:
            theirs = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"]).run(None, feed)
        except Exception as error:  # noqa: BLE001 (its strings need locales of the system's)
            assert "locale" in str(error)
        else:
            for one, other in zip(found, theirs):
                same(one, other)
    return found


def same(one, other):
    if isinstance(one, list):
        assert [list(row) for row in one] == [list(row) for row in other]
        np.testing.assert_allclose([list(row.values()) for row in one], [list(row.values()) for row in other], rtol=1e-3, atol=1e-5)
    elif one.dtype.kind == "f":
        np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-4)
    else:
        assert one.dtype == other.dtype and (one == other).all()


CLASSIFIERS = [
    linear_model.LogisticRegression(max_iter=200), tree.DecisionTreeClassifier(random_state=0), neighbors.KNeighborsClassifier(),
    ensemble.RandomForestClassifier(4, random_state=0), ensemble.GradientBoostingClassifier(n_estimators=3), svm.SVC(),
    make_pipeline(preprocessing.StandardScaler(), preprocessing.PolynomialFeatures(), linear_model.LogisticRegression(max_iter=500))]


@pytest.mark.parametrize("labels", [KINDS, NAMES], ids=["numbers", "strings"])
@pytest.mark.parametrize("model", CLASSIFIERS, ids=lambda model: type(model).__name__)
def test_classifiers(model, labels):
    model.fit(IRIS, labels)
    file = converted(model, [("X", FloatTensorType([None, 4]))])
    found, scores = results(file, {"X": IRIS[::5]})
    assert (found == model.predict(IRIS[::5])).mean() > 0.95
    if hasattr(model, "predict_proba"):
        assert list(scores[0]) == list(model.classes_)
        expected = model.predict_proba(IRIS[::5])
        np.testing.assert_allclose([list(row.values()) for row in scores], expected, atol=1e-3)
        [_, *columns] = results(converted(model, [("X", FloatTensorType([None, 4]))], zipmap="columns"), {"X": IRIS[::5]})
        np.testing.assert_allclose(np.stack(columns, 1).reshape(expected.shape), expected, atol=1e-3)


VECTORIZERS = {
    "words": words.CountVectorizer(), "weights": words.TfidfVectorizer(), "pairs": words.TfidfVectorizer(ngram_range=(1, 2)),
    "without words": words.CountVectorizer(stop_words=["the", "a"]), "case": words.CountVectorizer(lowercase=False),
    "characters": words.CountVectorizer(analyzer="char"), "of characters": words.TfidfVectorizer(analyzer="char", ngram_range=(2, 3)),
    "other weights": words.TfidfVectorizer(smooth_idf=False, norm="l1"), "whether": words.CountVectorizer(binary=True),
    "an expression": words.CountVectorizer(token_pattern="[a-z]+")}


@pytest.mark.parametrize("vectorizer", VECTORIZERS)
def test_texts(vectorizer):
    model = VECTORIZERS[vectorizer].fit(TEXTS)
    [found] = results(converted(model, [("s", StringTensorType([None, 1]))]), {"s": TEXTS.reshape(-1, 1)})
    np.testing.assert_allclose(found, model.transform(TEXTS).toarray(), atol=1e-5)
    pipeline = make_pipeline(model, linear_model.LogisticRegression()).fit(TEXTS, ["pets", "pets", "pets", "cars", "pets"])
    labels, scores = results(converted(pipeline, [("s", StringTensorType([None, 1]))]), {"s": TEXTS.reshape(-1, 1)})
    assert (labels == pipeline.predict(TEXTS)).all()
    np.testing.assert_allclose([list(row.values()) for row in scores], pipeline.predict_proba(TEXTS), atol=1e-4)


def test_columns_of_many_types():
    rng, columns = np.random.default_rng(0), ["age", "port", "count", "text"]
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"age": rng.normal(40, 10, 30).astype(np.float32), "port": rng.choice(["S", "C", "Q"], 30),
                              "count": rng.integers(0, 4, 30), "text": np.tile(TEXTS, 6)})
    frame.loc[3, "age"] = np.nan
    features = compose.ColumnTransformer([("age", make_pipeline(impute.SimpleImputer(), preprocessing.StandardScaler()), ["age"]),
                                          ("port", preprocessing.OneHotEncoder(handle_unknown="ignore"), ["port"]),
                                          ("text", words.TfidfVectorizer(), "text"), ("count", "passthrough", ["count"])])
    model = make_pipeline(features, ensemble.RandomForestClassifier(5, random_state=0)).fit(frame, rng.choice(["yes", "no"], 30))
    types = [FloatTensorType([None, 1]), StringTensorType([None, 1]), Int64TensorType([None, 1]), StringTensorType([None, 1])]
    labels, scores = results(converted(model, list(zip(columns, types))), {name: frame[[name]].values for name in columns})
    assert (labels == model.predict(frame)).all()
    np.testing.assert_allclose([row["yes"] for row in scores], model.predict_proba(frame)[:, 1], atol=1e-5)


def test_dicts_and_hashes():
    rows = [{"a": 1.0, "b": 2.0}, {"b": 3.0, "c": 4.0}]
    vectorizer = feature_extraction.DictVectorizer(sparse=False).fit(rows)
    file = converted(vectorizer, [("X", DictionaryType(StringTensorType([1]), FloatTensorType([])))])
    assert results(file, {"X": rows[1]})[0].tolist() == [[0, 3, 4]]
    hasher = feature_extraction.FeatureHasher(8, input_type="string").fit(NAMES.reshape(-1, 1))
    [found] = results(converted(hasher, [("X", StringTensorType([None, 1]))]), {"X": NAMES[::9].reshape(-1, 1)})
    np.testing.assert_array_equal(found, hasher.transform(NAMES[::9].reshape(-1, 1)).toarray())


def test_paths_through_trees():
    forest = ensemble.RandomForestClassifier(3, random_state=0).fit(IRIS, KINDS)
    *_, paths = results(converted(forest, [("X", FloatTensorType([None, 4]))], decision_path=True, zipmap=False), {"X": IRIS[:20]})
    indicator, starts = forest.decision_path(IRIS[:20])
    rows = ["".join(map(str, row)) for row in indicator.toarray().astype(int)]
    assert [list(row) for row in paths] == [[row[a:b] for a, b in zip(starts, starts[1:])] for row in rows]
