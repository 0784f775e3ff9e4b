internal import Foundation
internal import Logging
internal import PatchbayClient
internal import Subprocess
internal import Synchronization
internal import SystemPackage
internal import Wire

/// Starts a helper process again and again until its task is cancelled.
struct HelperSupervisor: Sendable {
    let command: HelperProcess.Command
    let shared: HelperProcess.Shared
    let logger: Logger
    let checkReady: @Sendable ([UInt8]) throws -> Void

    /// The first restart is immediate, so that a killed process costs one request only.
    private static let backoff = Backoff(.quadratic, unit: .seconds(1), delayMax: .seconds(30), jitter: .upperHalf)
    /// A process that ran for this long was healthy.
    private static let healthy = Duration.seconds(10)
    /// How often the process is checked.
    private static let interval = Duration.milliseconds(500)

    /// Without this process's secrets. One thread for each library, because several would only compete.
    private static var environment: Environment {
        let kept = ["PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH"]
        let inherited = ProcessInfo.processInfo.environment.filter { kept.contains($0.key) }
        let own = ["LC_ALL": "C.UTF-8", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"]
        return .custom(Dictionary(uniqueKeysWithValues: inherited.merging(own) { $1 }.map { (Environment.Key(rawValue: $0)!, $1) }))
    }

    func run() async {
        var failures = 0
        while !Task.isCancelled {
            let start = MediaClock.now
            let reason = await runOnce()
            if Task.isCancelled { break }
            let failedStarts = shared.processEnded("\(command.name): \(reason)")
            failures = failedStarts == 0 && MediaClock.now - start >= Self.healthy ? 1 : failures + 1
            logger.warning(
                "helper process ended; restarting",
                metadata: ["helper": "\(command.name)", "reason": "\(reason)", "failures": "\(failures)"])
            try? await Task.sleep(for: Self.backoff.delay(afterFailures: failures, random: Double.random(in: 0...1)))
        }
    }

    /// - Returns: why the process ended.
    private func runOnce() async -> String {
        let (outbox, outgoing) = AsyncStream<[UInt8]>.makeStream()
        let errors = ErrorText()
        // Signals of the terminal do not reach a process in a group of its own.
        var options = PlatformOptions()
        options.processGroupID = 0
        do {
            let result = try await Subprocess.run(
                .path(FilePath(command.executable)), arguments: Arguments(command.arguments), environment: Self.environment,
                platformOptions: options,
                input: .inputWriter, output: .sequence, error: .sequence
            ) { execution in
                shared.processStarted(execution.processIdentifier.value, outbox: outgoing)
                defer { try? execution.send(signal: .kill) }
                return try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { try await receive(execution.standardOutput) }
                    group.addTask {
                        for await bytes in outbox { _ = try await execution.standardInputWriter.write(bytes) }
                    }
                    group.addTask {
                        for try await text in execution.standardError {
                            errors.append(unsafe text.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) })
                        }
                        try await Task.sleep(for: .seconds(86_400 * 365))
                    }
                    group.addTask { try await watch() }
                    defer { group.cancelAll() }
                    try await group.next()
                }
            }
            return reason("ended with \(result.terminationStatus)", errors)
        } catch let error as ProviderError {
            return reason(error.message, errors)
        } catch {
            return reason("\(error)", errors)
        }
    }

    private func reason(_ reason: String, _ errors: ErrorText) -> String {
        errors.lastLines.isEmpty ? reason : "\(reason): \(errors.lastLines)"
    }

    private func receive(_ output: SubprocessOutputSequence) async throws {
        var decoder = HelperMessage.Decoder()
        for try await bytes in output {
            unsafe bytes.withUnsafeBytes { unsafe decoder.append($0) }
            while let message = try decoder.next() {
                if message.kind == .ready {
                    try checkReady(message.body)
                    shared.processBecameReady()
                } else {
                    shared.received(message)
                }
            }
        }
    }

    /// Returns when the process is overdue.
    private func watch() async throws {
        while true {
            try await Task.sleep(for: Self.interval)
            if shared.state.withLock({ $0.requests.isOverdue(at: MediaClock.now) }) {
                throw ProviderError(.timeout, "does not respond")
            }
        }
    }
}

/// The end of a process's standard error stream.
private final class ErrorText: Sendable {
    private static let charactersMax = 2_000
    private let text = Mutex("")

    func append(_ more: String) {
        text.withLock { $0 = String(($0 + more).suffix(Self.charactersMax)) }
    }

    var lastLines: String {
        text.withLock { $0 }.split(separator: "\n").suffix(2).joined(separator: " ")
    }
}
