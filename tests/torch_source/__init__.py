"""PyTorch's own graphs and passes under our pages, against PyTorch itself."""
