"""Training a classifier on pictures, by the book."""

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.utils.data import DataLoader, Dataset, TensorDataset, random_split


class Squares(Dataset):
    """Pictures with a bright patch; its quarter is the class."""

    def __init__(self, count, transform=None):
        generator = torch.Generator().manual_seed(7)
        self.images = torch.rand(count, 3, 16, 16, generator=generator) * 0.5
        self.labels = torch.randint(0, 4, (count,), generator=generator)
        for image, label in zip(self.images, self.labels):
            row, column = divmod(label.item(), 2)
            image[:, 8 * row : 8 * row + 8, 8 * column : 8 * column + 8] += 0.5
        self.transform = transform

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        image = self.images[index]
        return (self.transform(image) if self.transform else image), self.labels[index].item()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 6, 3)
        self.pool = nn.MaxPool2d(2, 2)
        self.conv2 = nn.Conv2d(6, 8, 3)
        self.fc1 = nn.Linear(8 * 2 * 2, 16)
        self.fc2 = nn.Linear(16, 4)

    def forward(self, x):
        x = self.pool(F.relu(self.conv1(x)))
        x = self.pool(F.relu(self.conv2(x)))
        x = torch.flatten(x, 1)
        return self.fc2(F.relu(self.fc1(x)))


if __name__ == "__main__":
    torch.manual_seed(0)
    torch.backends.cudnn.benchmark = True
    dataset = Squares(200, transform=lambda image: (image - 0.5) / 0.5)
    trainset, testset = random_split(dataset, [160, 40], generator=torch.Generator().manual_seed(42))
    trainloader = DataLoader(trainset, batch_size=8, shuffle=True, num_workers=0)
    testloader = DataLoader(testset, batch_size=8, shuffle=False)
    classes = ("upper left", "upper right", "lower left", "lower right")
    dataiter = iter(trainloader)
    images, labels = next(dataiter)
    print(images.shape, labels, " ".join(f"{classes[labels[j]]:5s}" for j in range(4)))
    device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
    print(device)
    net = Net().to(device)
    criterion = nn.CrossEntropyLoss()
    optimizer = optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
    for epoch in range(4):
        running_loss = 0.0
        for i, data in enumerate(trainloader, 0):
            inputs, labels = data[0].to(device), data[1].to(device)
            optimizer.zero_grad()
            outputs = net(inputs)
            loss = criterion(outputs, labels)
            loss.backward()
            optimizer.step()
            running_loss += loss.item()
            if i % 10 == 9:
                print(f"[{epoch + 1}, {i + 1:5d}] loss: {running_loss / 10:.3f}")
                running_loss = 0.0
    print("Finished Training")
    correct = total = 0
    correct_pred = dict.fromkeys(classes, 0)
    with torch.no_grad():
        for images, labels in testloader:
            _, predicted = torch.max(net(images).data, 1)
            total += labels.size(0)
            correct += (predicted == labels).sum().item()
            for label, prediction in zip(labels, predicted):
                correct_pred[classes[label]] += int(label == prediction)
    print(f"Accuracy: {100 * correct // total} %", correct_pred)
    batch = next(iter(DataLoader(TensorDataset(torch.arange(6), torch.arange(6) ** 2), batch_size=4)))
    print(batch)
