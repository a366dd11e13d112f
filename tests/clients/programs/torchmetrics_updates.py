"""Metrics of every family, over several batches, alone and together."""

import torch
import torchmetrics as tm
from reporting import report
from torchmetrics import classification as C
from torchmetrics import functional as MF
from torchmetrics import image, regression, retrieval, text
from torchmetrics.wrappers import BootStrapper, ClasswiseWrapper, MetricTracker, MinMaxMetric

torch.manual_seed(0)
batches = [(torch.randn(20, 4).softmax(1), torch.randint(4, (20,))) for _ in range(3)]
several = tm.MetricCollection(
    {
        "accuracy": C.MulticlassAccuracy(4),
        "top2": C.MulticlassAccuracy(4, top_k=2, average="micro"),
        "f1": C.MulticlassF1Score(4, average=None),
        "auroc": C.MulticlassAUROC(4),
        "binned": C.MulticlassAUROC(4, thresholds=20),
        "precision": C.MulticlassAveragePrecision(4),
        "confusion": C.MulticlassConfusionMatrix(4, normalize="true"),
        "kappa": C.MulticlassCohenKappa(4),
        "matthews": C.MulticlassMatthewsCorrCoef(4),
        "calibration": C.MulticlassCalibrationError(4),
        "hinge": C.MulticlassHingeLoss(4),
    },
    prefix="test/",
)
report("text", str(several))
for scores, labels in batches:
    report("step", several(scores, labels))
report("classification", several.compute())
several.reset()

pairs = [(torch.randn(30), torch.randn(30)) for _ in range(3)]
for name in """MeanSquaredError MeanAbsoluteError R2Score PearsonCorrCoef SpearmanCorrCoef ExplainedVariance
        KendallRankCorrCoef ConcordanceCorrCoef LogCoshError""".split():
    metric = getattr(regression, name)()
    for a, b in pairs:
        metric.update(a, a * 0.5 + b)
    report(name, metric.compute())

clear = torch.rand(2, 3, 32, 32)
noisy = (clear + 0.1 * torch.randn_like(clear)).clamp(0, 1)
for metric in (
    image.StructuralSimilarityIndexMeasure(data_range=1.0),
    image.MultiScaleStructuralSimilarityIndexMeasure(kernel_size=3, betas=(0.3, 0.7), data_range=1.0),
    image.PeakSignalNoiseRatio(data_range=1.0),
    image.UniversalImageQualityIndex(),
    image.TotalVariation(),
    image.SpectralAngleMapper(),
):
    report(type(metric).__name__, metric(*(noisy, clear)[: 1 if "Variation" in type(metric).__name__ else 2]))

said, meant = ["the cat sat on the mat", "hello there"], ["a cat sat on the mat", "hello you there"]
report("words", [text.WordErrorRate()(said, meant), text.CharErrorRate()(said, meant)])
report("bleu", text.BLEUScore(n_gram=2)(said, [[m] for m in meant]))
report("perplexity", text.Perplexity()(torch.randn(2, 8, 5), torch.randint(5, (2, 8))))
rows = torch.arange(30) // 6
for name in "RetrievalMAP RetrievalMRR RetrievalNormalizedDCG RetrievalPrecision".split():
    report(name, getattr(retrieval, name)()(torch.rand(30), torch.rand(30) > 0.6, indexes=rows))

mean = tm.MeanMetric()
for a, _ in pairs:
    mean.update(a, a.abs())
report("mean", mean.compute())
report("cosine", regression.CosineSimilarity()(batches[0][0], batches[1][0]))
report("running", tm.aggregation.RunningMean(2)(3.0))
tracker = MetricTracker(C.MulticlassAccuracy(4))
for scores, labels in batches:
    tracker.increment()
    tracker.update(scores, labels)
report("tracker", [*tracker.compute_all(), tracker.best_metric()])
report("classes", ClasswiseWrapper(C.MulticlassRecall(4, average=None))(*batches[0]))
report("extremes", MinMaxMetric(C.MulticlassAccuracy(4))(*batches[0]))
boot = BootStrapper(C.MulticlassAccuracy(4), num_bootstraps=5, sampling_strategy="multinomial")
boot.update(*batches[0])
report("bootstrap", boot.compute())
report("sum of metrics", (tm.MeanMetric() + 2.0)(torch.tensor([1.0, 3.0])))

kept = C.MulticlassConfusionMatrix(4)
kept.persistent(True)
kept.update(*batches[0])
again = C.MulticlassConfusionMatrix(4)
again.persistent(True)
again.load_state_dict(kept.state_dict())
report("state", again.compute())
x = torch.randn(6, 3, requires_grad=True)
MF.pairwise_euclidean_distance(x, x.detach() + 1).sum().backward()
report("gradient", x.grad)
