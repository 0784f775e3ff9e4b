internal import Foundation
private import Simulation

/// Distributes the seeds over one process per core and prints progress. Processes rather than threads, so that a trap in the engine is
/// reported with its seed.
final class Coordinator {
    private let options: Options
    private var done = 0
    private var shownAt = Date.distantPast
    private let started = Date()

    init(_ options: Options) {
        self.options = options
    }

    func run() -> Bool {
        printLine("\(options.seeds) worlds from seed \(options.first), \(options.jobs) at a time")
        let jobs = min(options.jobs, options.seeds)
        let workers = (0..<jobs).map { Worker(job: $0, of: jobs, options) }
        for worker in workers where !worker.start() { return false }
        var findings: [String] = []
        var open = workers
        while findings.isEmpty, !open.isEmpty {
            for worker in open {
                for line in worker.lines() { read(line, &findings) }
                guard worker.isOver else { continue }
                open.removeAll { $0 === worker }
                if let seed = worker.unfinishedSeed, findings.isEmpty {
                    findings.append("\(seed) crashed the process (status \(worker.status))")
                }
            }
            showProgress()
            usleep(20_000)
        }
        for worker in open { worker.stop() }
        return conclude(findings)
    }

    private func read(_ line: String, _ findings: inout [String]) {
        if line.hasPrefix("done ") { done += 1 }
        if line.hasPrefix("fail ") { findings.append(String(line.dropFirst(5))) }
    }

    private func showProgress() {
        guard Date().timeIntervalSince(shownAt) > 5 else { return }
        shownAt = Date()
        if done > 0 { printLine("\(done) of \(options.seeds) passed") }
    }

    private func conclude(_ findings: [String]) -> Bool {
        let seconds = String(format: "%.1f", Date().timeIntervalSince(started))
        guard let finding = findings.first, let seed = finding.split(separator: " ").first.flatMap({ UInt64($0) }) else {
            printLine("passed: \(done) worlds in \(seconds) s")
            return done == options.seeds
        }
        printLine("seed \(seed): \(options.world(seed).selection)")
        printLine("FAILED after \(done) passing worlds: seed \(finding); reproduce with: \(options.reproduction(of: seed))")
        return false
    }
}

/// One process that runs every n-th seed.
private final class Worker {
    private let process = Process()
    private let pipe = Pipe()
    private var pending = Data()
    private var ended = false
    private(set) var unfinishedSeed: UInt64?

    init(job: Int, of jobs: Int, _ options: Options) {
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        let seeds = (options.seeds - job + jobs - 1) / jobs
        process.arguments = [
            "--worker", "--seeds", "\(seeds)", "--from", "\(options.first &+ UInt64(job))", "--step", "\(jobs)",
        ]
        if options.isOfClusters { process.arguments?.append("--cluster") }
        process.standardOutput = pipe
    }

    var status: Int32 { process.terminationStatus }
    var isOver: Bool { ended && !process.isRunning }

    func start() -> Bool {
        do {
            try process.run()
        } catch {
            printLine("cannot start a worker: \(error)")
            return false
        }
        let descriptor = pipe.fileHandleForReading.fileDescriptor
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        return true
    }

    func stop() {
        process.terminate()
        process.waitUntilExit()
    }

    /// Lines printed since the last call.
    func lines() -> [String] {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while !ended {
            let count = read(pipe.fileHandleForReading.fileDescriptor, &buffer, buffer.count)
            if count > 0 { pending.append(contentsOf: buffer[0..<count]) }
            if count == 0 { ended = true }
            if count <= 0 { break }
        }
        var lines: [String] = []
        while let end = pending.firstIndex(of: UInt8(ascii: "\n")) {
            lines.append(String(decoding: pending[pending.startIndex..<end], as: UTF8.self))
            pending = Data(pending[pending.index(after: end)...])
        }
        for line in lines {
            if line.hasPrefix("begin ") { unfinishedSeed = UInt64(line.dropFirst(6)) } else { unfinishedSeed = nil }
        }
        return lines
    }
}
