import Backend
import Dispatch
import Foundation
import Glibc
import HTTPServer
import Logging
import Store
import Synchronization
import Wire

/// Writes the log on a thread of its own, so that a terminal, pipe or journal that does not read delays no shard.
///
/// Policy of a full queue: new records are dropped and counted; a line with their number follows once there is space.
final class LogWriter: Sendable {
    /// Queued records.
    static let recordsMax = 8_192
    /// Seconds for which lines are collected before they are written together. A wake-up and a system call per line would take 8 % of the
    /// time of a join.
    private static let collectionTime = 0.005
    private static let bytesPerWrite = 65_536
    /// How long `finish()` waits for the reader of the log.
    static let finishTimeout = DispatchTimeInterval.seconds(2)

    private struct State {
        var waiting: [LogRecord] = []
        /// Records dropped since the last line that says so.
        var dropped = 0
        var isFinished = false
    }

    private let state = Mutex(State())
    private let news = DispatchSemaphore(value: 0)
    private let end = DispatchSemaphore(value: 0)
    private let descriptor: Int32
    private let format: LogFormat
    private let noteDropped: @Sendable (Int) -> Void

    /// - Parameters:
    ///   - descriptor: where lines are written; not closed.
    ///   - noteDropped: called with each number of dropped records.
    init(to descriptor: Int32 = STDERR_FILENO, as format: LogFormat, noteDropped: @escaping @Sendable (Int) -> Void = { _ in }) {
        self.descriptor = descriptor
        self.format = format
        self.noteDropped = noteDropped
        let thread = Thread { self.work() }
        thread.name = "log"
        thread.start()
    }

    /// Queues a record. Never waits for the reader of the log.
    func append(_ record: LogRecord) {
        let isFirst = state.withLock { state in
            guard !state.isFinished, state.waiting.count < Self.recordsMax else {
                state.dropped += 1
                return false
            }
            state.waiting.append(record)
            return state.waiting.count == 1
        }
        if isFirst { news.signal() }
    }

    /// Writes what is queued, as far as the reader takes it in time. Later records are dropped.
    func finish() {
        state.withLock { $0.isFinished = true }
        news.signal()
        _ = end.wait(timeout: .now() + Self.finishTimeout)
    }

    private func work() {
        while true {
            news.wait()
            Thread.sleep(forTimeInterval: Self.collectionTime)
            let (records, dropped, isFinished) = state.withLock { state in
                defer { (state.waiting, state.dropped) = ([], 0) }
                return (state.waiting, state.dropped, state.isFinished)
            }
            var lines: [UInt8] = []
            for record in records {
                lines += format.line(record)
                if lines.count >= Self.bytesPerWrite {
                    write(lines)
                    lines.removeAll(keepingCapacity: true)
                }
            }
            if dropped > 0 {
                noteDropped(dropped)
                lines += format.line(Self.note(of: dropped))
            }
            write(lines)
            if isFinished { break }
        }
        end.signal()
    }

    private static func note(of dropped: Int) -> LogRecord {
        LogRecord(
            time: WallTime(milliseconds: WallClock.milliseconds), level: .warning, logger: "patchbay.log",
            message: "log lines were dropped: their reader does not keep up", metadata: ["count": .stringConvertible(dropped)])
    }

    /// Lines that cannot be written are lost: there is nowhere to report it.
    private func write(_ lines: [UInt8]) {
        var rest = lines[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if written > 0 {
                rest.removeFirst(written)
            } else if errno == EAGAIN {
                var wish = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&wish, 1, -1)
            } else if errno != EINTR {
                return
            }
        }
    }
}

/// Passes records to a `LogWriter`.
struct QueuedLogHandler: LogHandler {
    var logLevel: Logger.Level
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider?
    private let label: String
    private let writer: LogWriter
    private let recent: RecentOperations?

    init(label: String, level: Logger.Level, writer: LogWriter, recent: RecentOperations?, provider: Logger.MetadataProvider?) {
        self.label = label
        self.writer = writer
        self.recent = recent
        logLevel = level
        metadataProvider = provider
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var all = metadata
        if let provided = metadataProvider?.get(), !provided.isEmpty { all.merge(provided) { $1 } }
        if let own = event.metadata { all.merge(own) { $1 } }
        let record = LogRecord(
            time: WallTime(milliseconds: WallClock.milliseconds), level: event.level, logger: label, message: event.message.description,
            metadata: all)
        writer.append(record)
        if event.level >= .warning {
            recent?.note(
                record.level.rawValue, record.message, of: label, details: LogFormat.details(of: record), at: record.time.milliseconds)
        }
    }
}

/// Level and format of the log.
struct LogSettings {
    var level: Logger.Level
    var format: LogFormat

    /// For commands that print results: errors as text. Call once.
    static func startWithErrorsOnly() {
        LoggingSystem.bootstrap { label in
            var handler = StreamLogHandler.standardError(label: label)
            handler.logLevel = .error
            return handler
        }
    }

    /// Sends all logging of the process to standard error. Call once.
    ///
    /// - Parameters:
    ///   - recent: stores the latest warnings and errors for operators.
    ///   - noteDropped: called with the number of dropped lines.
    func start(recent: RecentOperations? = nil, noteDropped: @escaping @Sendable (Int) -> Void) -> LogWriter {
        let writer = LogWriter(as: format, noteDropped: noteDropped)
        let request = Logger.MetadataProvider { RequestContext.current?.logFields ?? [:] }
        LoggingSystem.bootstrap(
            { label, provider in QueuedLogHandler(label: label, level: level, writer: writer, recent: recent, provider: provider) },
            metadataProvider: request)
        return writer
    }
}
