// SPDX-License-Identifier: MIT
// gloo FOLDER RANKS FIRST LAST FACTOR ITERATIONS: gloo's all-reduce of floats among RANKS processes over its TCP
// transport on loopback. Prints "SIZE MICROSECONDS" for each size: the median of the slowest rank's times, of the
// fastest of its ring, bcube and halving-doubling, timed as the worker does it (call after call). The sums of each are
// checked before and after the timed calls. The ranks find each other in FOLDER. worker.sh builds and runs it.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "gloo/allreduce.h"
#include "gloo/allreduce_halving_doubling.h"
#include "gloo/barrier.h"
#include "gloo/math.h"
#include "gloo/rendezvous/context.h"
#include "gloo/rendezvous/file_store.h"
#include "gloo/transport/tcp/device.h"

using Options = gloo::AllreduceOptions;
using Vector = std::vector<float>;

struct Setup {
	std::string folder;
	int ranks;
	size_t first, last, factor;
	int iterations;
};

// One algorithm on one pair of vectors; `in` may be the same as `out`.
struct Way {
	Vector in, out;
	bool inPlace;
	std::function<void()> run;
};

static std::unique_ptr<Way> through_options(const std::shared_ptr<gloo::Context> &context, size_t count,
				   gloo::detail::AllreduceOptionsImpl::Algorithm algorithm)
{
	std::unique_ptr<Way> way(new Way{Vector(count), Vector(count), false, nullptr});
	auto options = std::make_shared<Options>(context);

	options->setAlgorithm(algorithm);
	options->setInput(way->in.data(), count);
	options->setOutput(way->out.data(), count);
	options->setReduceFunction(
		static_cast<void (*)(void *, const void *, const void *, size_t)>(&gloo::sum<float>));
	way->run = [options] { gloo::allreduce(*options); };
	return way;
}

static std::unique_ptr<Way> halving(const std::shared_ptr<gloo::Context> &context, size_t count)
{
	std::unique_ptr<Way> way(new Way{Vector(), Vector(count), true, nullptr});
	auto algorithm = std::make_shared<gloo::AllreduceHalvingDoubling<float>>(
		context, std::vector<float *>{way->out.data()}, static_cast<int>(count));

	way->run = [algorithm] { algorithm->run(); };
	return way;
}

// Rank R's element I is R + 1 + I % 8, so that every sum is exact.
static void check(Way &way, int rank, int ranks)
{
	Vector &input = way.inPlace ? way.out : way.in;

	for (size_t i = 0; i < input.size(); i++)
		input[i] = static_cast<float>(rank + 1 + i % 8);
	way.run();
	for (size_t i = 0; i < way.out.size(); i++)
		if (way.out[i] != static_cast<float>(ranks * (ranks + 1) / 2 + ranks * (i % 8)))
			throw std::runtime_error("wrong sum at " + std::to_string(i));
}

static void measure(Way &way, int iterations, float *times)
{
	auto before = std::chrono::steady_clock::now();

	std::fill(way.out.begin(), way.out.end(), 0.0f);
	for (int i = -5; i < iterations; i++) {
		way.run();
		auto after = std::chrono::steady_clock::now();
		if (i >= 0)
			times[i] = std::chrono::duration<float, std::micro>(after - before).count();
		before = after;
	}
}

// The median over the iterations of the slowest rank's time.
static float median(const float *times, const Setup &s)
{
	std::vector<float> slowest(times, times + s.iterations);

	for (int rank = 1; rank < s.ranks; rank++)
		for (int i = 0; i < s.iterations; i++)
			slowest[i] = std::max(slowest[i], times[rank * s.iterations + i]);
	std::sort(slowest.begin(), slowest.end());
	return slowest[slowest.size() / 2];
}

static void work(const Setup &s, int rank, float *times)
{
	using Kind = gloo::detail::AllreduceOptionsImpl::Algorithm;
	gloo::rendezvous::FileStore store(s.folder);
	auto device = gloo::transport::tcp::CreateDevice(gloo::transport::tcp::attr("127.0.0.1"));
	auto context = std::make_shared<gloo::rendezvous::Context>(rank, s.ranks);

	context->connectFullMesh(store, device);
	gloo::BarrierOptions all(context);
	for (size_t bytes = s.first; bytes <= s.last; bytes *= s.factor) {
		size_t count = bytes / sizeof(float);
		float best = 0;
		for (int kind = 0; kind < 3; kind++) {
			auto way = kind == 0   ? through_options(context, count, Kind::RING)
				   : kind == 1 ? through_options(context, count, Kind::BCUBE)
					       : halving(context, count);
			check(*way, rank, s.ranks);
			measure(*way, s.iterations, times + rank * s.iterations);
			check(*way, rank, s.ranks);
			gloo::barrier(all);
			float usec = median(times, s);
			best = kind == 0 ? usec : std::min(best, usec);
			gloo::barrier(all);
		}
		if (rank == 0)
			printf("%zu %.3f\n", bytes, best);
	}
	fflush(stdout);
}

int main(int argc, char **argv)
{
	if (argc != 7) {
		fprintf(stderr, "usage: gloo FOLDER RANKS FIRST LAST FACTOR ITERATIONS\n");
		return 2;
	}
	Setup s = {argv[1],
		   std::stoi(argv[2]),
		   std::stoul(argv[3]),
		   std::stoul(argv[4]),
		   std::max(2ul, std::stoul(argv[5])),
		   std::stoi(argv[6])};
	void *shared = mmap(nullptr, sizeof(float) * s.ranks * s.iterations, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status = 0, result = shared == MAP_FAILED;

	for (int rank = 0; rank < s.ranks && !result; rank++) {
		if (fork() != 0)
			continue;
		alarm(120); // a rank that is left alone waits for ever
		try {
			work(s, rank, static_cast<float *>(shared));
		} catch (const std::exception &e) {
			fprintf(stderr, "gloo: rank %d: %s\n", rank, e.what());
			_exit(1);
		}
		_exit(0);
	}
	while (wait(&status) > 0)
		result |= status != 0;
	if (result)
		fprintf(stderr, "gloo: a rank failed\n");
	return result;
}
