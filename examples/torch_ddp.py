# SPDX-License-Identifier: MIT
"""Digits with PyTorch's DistributedDataParallel.

    ringup run -- python3 torch_ddp.py                          (RANK, WORLD_SIZE ... from ringup)
    ringup run --launcher torchrun -- python3 torch_ddp.py      (the same from torchrun)

NCCL joins the ranks where each has a GPU, Gloo elsewhere.
"""
import os

import digits


def main():
    options = digits.arguments(__doc__.split("\n")[0])
    import torch
    from torch import distributed, nn

    rank, world = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
    local, local_world = int(os.environ.get("LOCAL_RANK", 0)), int(os.environ.get("LOCAL_WORLD_SIZE", 1))
    visible = torch.cuda.device_count()
    # `ringup run --gpus 1` shows each rank one GPU; without it each rank sees all of its host
    on_gpu = visible == 1 and "CUDA_VISIBLE_DEVICES" in os.environ or visible >= local_world
    device = torch.device("cuda", local % visible) if on_gpu else torch.device("cpu")
    if world > 1:
        distributed.init_process_group("nccl" if on_gpu else "gloo")  # env://

    images, labels, test_images, test_labels = digits.load()
    model = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10)).to(device)
    w1, b1, w2, b2 = (torch.from_numpy(w) for w in digits.first_weights())
    with torch.no_grad():  # torch keeps a layer's matrix the other way round
        for parameter, value in zip(model.parameters(), (w1.t(), b1, w2.t(), b2)):
            parameter.copy_(value)
    ddp = model
    if world > 1:
        ddp = nn.parallel.DistributedDataParallel(model, device_ids=[device.index] if on_gpu else None)
    descent = torch.optim.SGD(ddp.parameters(), lr=digits.RATE)
    loss_of = nn.CrossEntropyLoss()

    for x, y in digits.batches(images, labels, options.epochs, rank, world):
        descent.zero_grad()
        loss_of(ddp(torch.from_numpy(x).to(device)), torch.from_numpy(y).to(device)).backward()
        descent.step()

    w1, b1, w2, b2 = (p.detach().cpu().numpy() for p in model.parameters())
    digits.report(rank, world, (w1.T, b1, w2.T, b2), test_images, test_labels)
    if world > 1:
        distributed.destroy_process_group()


if __name__ == "__main__":
    main()
