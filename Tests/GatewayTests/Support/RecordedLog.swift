import Backend
import Logging
import Synchronization

/// Keeps what an `OperatorLog` or another logger logs.
final class RecordedLog: Sendable {
    struct Line: Sendable {
        var level: Logger.Level
        var message: String
        var metadata: Logger.Metadata

        subscript(key: String) -> String? { metadata[key].map { "\($0)" } }
    }

    private let state = Mutex<[Line]>([])

    var lines: [Line] { state.withLock { $0 } }

    func lines(_ message: String) -> [Line] { lines.filter { $0.message == message } }

    /// - Parameter level: lines below it are not logged.
    func operatorLog(level: Logger.Level = .info) -> OperatorLog {
        OperatorLog { label in
            var logger = self.logger(label)
            logger.logLevel = level
            return logger
        }
    }

    func logger(_ label: String) -> Logger { Logger(label: label) { _ in Handler(log: self) } }

    private struct Handler: LogHandler {
        let log: RecordedLog
        var logLevel = Logger.Level.info
        var metadata: Logger.Metadata = [:]

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let line = Line(level: event.level, message: event.message.description, metadata: event.metadata ?? [:])
            log.state.withLock { $0.append(line) }
        }
    }
}
