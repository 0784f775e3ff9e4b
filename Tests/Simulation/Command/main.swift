private import Foundation

/// `simulate --seeds n --from seed [--trace]`: exit 0 if all worlds kept their promises, 1 if one did not, 2 if used wrongly.
guard let options = Options(CommandLine.arguments.dropFirst()) else {
    say("usage: simulate [--seeds 100] [--from 1] [--jobs 2] [--trace]")
    exit(2)
}
if options.isWorker {
    exit(work(options) ? 0 : 1)
} else if options.seeds == 1 {
    exit(show(options.first, isTraced: options.isTraced) ? 0 : 1)
} else {
    exit(Overseer(options).run() ? 0 : 1)
}
