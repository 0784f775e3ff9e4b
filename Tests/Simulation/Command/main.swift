private import Foundation

/// `simulate [--cluster] --seeds n --from seed [--trace]`: exits with 0 if all worlds passed, 1 if one failed, 2 on a usage error.
guard let options = Options(CommandLine.arguments.dropFirst()) else {
    printLine("usage: simulate [--cluster] [--seeds 100] [--from 1] [--jobs 2] [--trace]")
    exit(2)
}
if options.isWorker {
    exit(work(options) ? 0 : 1)
} else if options.seeds == 1 {
    exit(show(options.first, options) ? 0 : 1)
} else {
    exit(Coordinator(options).run() ? 0 : 1)
}
