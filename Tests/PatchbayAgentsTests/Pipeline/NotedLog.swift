import Logging
import Synchronization

/// Notes the warnings and errors of a logger.
final class NotedLog: Sendable {
    private let noted = Mutex<[String]>([])

    /// Each line with its error, if it has one.
    var lines: [String] { noted.withLock { $0 } }

    var logger: Logger { Logger(label: "test") { _ in Handler(log: self) } }

    private struct Handler: LogHandler {
        let log: NotedLog
        var logLevel = Logger.Level.warning
        var metadata: Logger.Metadata = [:]

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let error = event.metadata?["error"].map { ": \($0)" } ?? ""
            log.noted.withLock { $0.append("\(event.message)\(error)") }
        }
    }
}
