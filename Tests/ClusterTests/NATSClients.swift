import Foundation
import TestProcesses

@testable import Cluster

extension NATSServer {
    /// Settings of a client with a bucket of its own.
    func settings(_ subjects: String..., bucket: String = "b") -> NATSSettings {
        NATSSettings(servers: [address], bucket: bucket, subjects: subjects)
    }
}

/// Events of a broker, in order.
final class EventLog: Sendable {
    let events: AsyncStream<BrokerEvent>
    private let continuation: AsyncStream<BrokerEvent>.Continuation

    init() { (events, continuation) = AsyncStream.makeStream() }

    @Sendable func add(_ event: BrokerEvent) { continuation.yield(event) }

    /// No more events come; those that have come can still be read.
    func finish() { continuation.finish() }
}

extension Broker {
    func read(_ key: String) async throws -> StoredRecord? {
        try await withCheckedContinuation { continuation in read(key) { continuation.resume(returning: $0) } }.get()
    }

    func write(_ value: [UInt8], of key: String, after revision: UInt64) async throws -> UInt64 {
        try await withCheckedContinuation { continuation in write(value, of: key, after: revision) { continuation.resume(returning: $0) } }
            .get()
    }
}
