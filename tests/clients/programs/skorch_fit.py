"""scikit-learn's interface over a net: fit, search, pipelines, callbacks, saved parameters."""

import io

import numpy as np
import torch
from reporting import report
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from skorch import NeuralNetClassifier, NeuralNetRegressor
from skorch.callbacks import EarlyStopping, EpochScoring, GradientNormClipping, LRScheduler
from skorch.dataset import ValidSplit
from skorch.helper import SliceDataset
from torch import nn

torch.manual_seed(0)
X, y = make_classification(200, 12, n_informative=6, random_state=0)
X = X.astype(np.float32)


class Net(nn.Module):
    """Two layers."""

    def __init__(self, hidden=10, dropout=0.0):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(12, hidden), nn.ReLU(), nn.Dropout(dropout), nn.Linear(hidden, 2)
        )

    def forward(self, x):
        """The chances of both classes."""
        return self.layers(x).softmax(-1)


net = NeuralNetClassifier(
    Net,
    max_epochs=6,
    lr=0.1,
    optimizer=torch.optim.SGD,
    optimizer__momentum=0.9,
    iterator_train__shuffle=True,
    train_split=ValidSplit(0.2, random_state=1, stratified=True),
    callbacks=[
        EpochScoring("roc_auc", lower_is_better=False),
        LRScheduler("StepLR", step_size=2),
        GradientNormClipping(1.0),
        EarlyStopping(patience=10),
    ],
    verbose=0,
)
net.fit(X, y)
report("history", net.history[:, ("train_loss", "valid_loss", "valid_acc", "roc_auc")])
report("chances", net.predict_proba(X))
report("score", net.score(X, y))
held = io.BytesIO()
net.save_params(f_params=held)
held.seek(0)
again = NeuralNetClassifier(Net, verbose=0).initialize()
again.load_params(f_params=held)
report("loaded", again.predict(X))
torch.manual_seed(1)
search = GridSearchCV(
    NeuralNetClassifier(Net, max_epochs=2, verbose=0, train_split=False),
    {"lr": [0.01, 0.1], "module__hidden": [4, 8]},
    cv=2,
)
search.fit(X, y)
report("search", search.cv_results_["mean_test_score"])
report("best", str(search.best_params_))
line = make_pipeline(StandardScaler(), NeuralNetClassifier(Net, max_epochs=2, verbose=0))
torch.manual_seed(2)
report("pipeline", cross_val_score(line, X, y, cv=3))
net.partial_fit(X, y)
report("further", net.history[-1, "train_loss"])
report("slices", len(SliceDataset(net.get_dataset(X, y), idx=1)))
torch.manual_seed(3)
line = NeuralNetRegressor(nn.Linear, module__in_features=12, module__out_features=1, max_epochs=3, verbose=0)
line.fit(X, X[:, :1] * 2)
report("regression", line.predict(X))
