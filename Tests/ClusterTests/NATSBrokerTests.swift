import CNATS
import TestProcesses
import Testing
import Wire

@testable import Cluster

/// Messages and records with a server that works.
@Suite(.enabled(if: NATSServer.isInstalled), .timeLimit(.minutes(2)))
struct NATSBrokerTests {
    let server: NATSServer

    init() throws { server = try NATSServer() }

    @Test func messagesOnASubjectArriveInOrder() async throws {
        let log = EventLog()
        let receiver = try await NATSBroker.start(server.settings("a", "b.*"), onEvent: log.add)
        let sender = try await NATSBroker.start(server.settings(), onEvent: { _ in })
        for number in 0..<2_000 {
            sender.publish(Array(String(number).utf8), to: "a")
            sender.publish(Array(String(number).utf8), to: "b.\(number % 7)")
            sender.publish([], to: "c")
        }
        var next = ["a": 0, "b": 0]
        var events = log.events.makeAsyncIterator()
        #expect(await events.next() == .connected)
        while next != ["a": 2_000, "b": 2_000], let event = await events.next() {
            guard case .received(let message, let subject) = event else { return #expect(Bool(false), "\(event)") }
            let name = String(subject.prefix(1))
            let number = try #require(Int(String(decoding: message, as: UTF8.self)))
            #expect(number == next[name])
            if name == "b" { #expect(subject == "b.\(number % 7)") }
            next[name] = number + 1
        }
        await receiver.close()
        await sender.close()
    }

    @Test func recordsAreWrittenByCompareAndSet() async throws {
        let broker = try await NATSBroker.start(server.settings(), onEvent: { _ in })
        #expect(try await broker.read("room.1") == nil)
        let first = try await broker.write([1], of: "room.1", after: 0)
        await #expect(throws: BrokerError.conflict) { try await broker.write([2], of: "room.1", after: 0) }
        let second = try await broker.write([3], of: "room.1", after: first)
        #expect(second > first)
        await #expect(throws: BrokerError.conflict) { try await broker.write([4], of: "room.1", after: first) }
        await #expect(throws: BrokerError.conflict) { try await broker.write([5], of: "room.2", after: first) }
        #expect(try await broker.read("room.1") == StoredRecord(value: [3], revision: second))
        let third = try await broker.write([], of: "room.1", after: second)
        #expect(try await broker.read("room.1") == StoredRecord(value: [], revision: third))
        await broker.close()
    }

    /// The answer to a read is longer than what the server accepts.
    @Test func recordWithTheBiggestSnapshotIsWrittenAndRead() async throws {
        let broker = try await NATSBroker.start(server.settings(), onEvent: { _ in })
        let home = NodeIdentity(name: String(repeating: "n", count: 255), incarnation: .max)
        let epoch = RoomEpoch(number: .max, claim: .max)
        var record = RoomRecord(epoch: epoch, home: home, snapshot: Array(repeating: 7, count: broker.snapshotBytesMax))
        #expect(record.snapshot.count > 1_000_000, "the server's default is 1 MiB")
        let revision = try await broker.write(record.bytes, of: "room.1", after: 0)
        #expect(try await broker.read("room.1") == StoredRecord(value: record.bytes, revision: revision))
        record.snapshot += Array(repeating: 7, count: NATSLimits.recordFieldsBytesMax)
        await #expect(throws: BrokerError.refused("the record is bigger than the server accepts")) {
            try await broker.write(record.bytes, of: "room.1", after: revision)
        }
        await broker.close()
    }

    /// Two nodes create each of 100 records five times, all at once.
    @Test func oneOfManyWritersCreatesARecord() async throws {
        let brokers = [
            try await NATSBroker.start(server.settings(), onEvent: { _ in }),
            try await NATSBroker.start(server.settings(), onEvent: { _ in }),
        ]
        var winners: [Int: [StoredRecord]] = [:]
        await withTaskGroup(of: (key: Int, record: StoredRecord?).self) { group in
            for number in 0..<1_000 {
                group.addTask {
                    let (key, value) = (number % 100, [UInt8(number / 100)])
                    do {
                        let revision = try await brokers[number / 100 % 2].write(value, of: "key-\(key)", after: 0)
                        return (key, StoredRecord(value: value, revision: revision))
                    } catch {
                        #expect(error as? BrokerError == .conflict)
                        return (key, nil)
                    }
                }
            }
            for await (key, record) in group { if let record { winners[key, default: []].append(record) } }
        }
        #expect(winners.count == 100)
        for (key, records) in winners {
            #expect(records.count == 1)
            #expect(try await brokers[key % 2].read("key-\(key)") == records.first)
        }
        for broker in brokers { await broker.close() }
    }

    @Test func recordsBiggerThanTheServerAcceptsAreRefused() async throws {
        let server = try NATSServer { _ in ["max_payload: 4096"] }
        let broker = try await NATSBroker.start(server.settings(), onEvent: { _ in })
        // The header needs about 70 bytes.
        let value = [UInt8](repeating: 7, count: 4_000)
        let revision = try await broker.write(value, of: "k", after: 0)
        #expect(try await broker.read("k") == StoredRecord(value: value, revision: revision))
        for count in [4_090, 4_097, 1_000_000] {
            await #expect { try await broker.write([UInt8](repeating: 8, count: count), of: "k", after: revision) } throws: {
                if case BrokerError.refused = $0 { true } else { false }
            }
        }
        broker.publish([UInt8](repeating: 8, count: 5_000), to: "m")
        #expect(try await broker.read("k") == StoredRecord(value: value, revision: revision))
        await broker.close()
    }

    @Test func keysWithOtherCharactersAreRefused() async throws {
        let broker = try await NATSBroker.start(server.settings(), onEvent: { _ in })
        for key in ["", "a b", "a.*", ">", "a..b", "x\r\nPUB y 0\r\n\r\n"] {
            await #expect { try await broker.read(key) } throws: { if case BrokerError.refused = $0 { true } else { false } }
            await #expect { try await broker.write([], of: key, after: 0) } throws: {
                if case BrokerError.refused = $0 { true } else { false }
            }
        }
        broker.publish([1], to: "x\r\nPUB y 0\r\n\r\n")
        #expect(try await broker.read("still-connected") == nil)
        await broker.close()
    }

    /// A client of another kind deletes a record, which leaves a marker in its place.
    @Test(arguments: [false, true]) func aDeletedRecordCanBeCreatedAgain(_ isPurged: Bool) async throws {
        let broker = try await NATSBroker.start(server.settings(), onEvent: { _ in })
        let first = try await broker.write([1], of: "k", after: 0)
        let client = try LibraryClient(server)
        #expect(client.value(of: "k", in: "b") == [1])
        client.delete("k", in: "b", isPurged: isPurged)
        #expect(try await broker.read("k") == nil)
        let second = try await broker.write([2], of: "k", after: 0)
        #expect(second > first + 1)
        await #expect(throws: BrokerError.conflict) { try await broker.write([3], of: "k", after: 0) }
        #expect(try await broker.read("k") == StoredRecord(value: [2], revision: second))
        #expect(client.value(of: "k", in: "b") == [2])
        await broker.close()
    }

    @Test func aBucketWithOtherSettingsIsUsedAsItIs() async throws {
        let client = try LibraryClient(server)
        client.makeBucket("older", history: 5)
        let broker = try await NATSBroker.start(server.settings(bucket: "older"), onEvent: { _ in })
        let first = try await broker.write([1], of: "k", after: 0)
        let second = try await broker.write([2], of: "k", after: first)
        #expect(try await broker.read("k") == StoredRecord(value: [2], revision: second))
        await broker.close()
    }

    @Test func garbageInTheInboxDoesNoHarm() async throws {
        let log = EventLog()
        let broker = try await NATSBroker.start(server.settings(), onEvent: { _ in })
        let attacker = try await NATSBroker.start(server.settings("_INBOX.>"), onEvent: log.add)
        let revision = try await broker.write([1], of: "k", after: 0)
        var events = log.events.makeAsyncIterator()
        #expect(await events.next() == .connected)
        guard case .received(_, let answered)? = await events.next() else { return #expect(Bool(false)) }
        let parts = answered.split(separator: ".")
        let (inbox, number) = (parts.dropLast().joined(separator: "."), try #require(UInt64(parts.last ?? "")))
        // Requests that have ended, that do not exist yet, and no numbers.
        for name in ["\(number)", "\(number + 1_000)", "0", "-1", "x", "99999999999999999999999999"] {
            for text in ["", "{", #"{"stream":"KV_b","seq":99}"#] { attacker.publish(Array(text.utf8), to: "\(inbox).\(name)") }
        }
        // The next one: whatever the answer is then, it is one.
        for _ in 0..<100 {
            attacker.publish([0xFF, 0], to: "\(inbox).\(number + 1)")
            attacker.publish([0xFF, 0], to: "\(inbox).\(number + 2)")
        }
        for _ in 0..<2 { _ = try? await broker.read("k") }
        #expect(try await broker.read("k") == StoredRecord(value: [1], revision: revision))
        await attacker.close()
        await broker.close()
    }
}

/// A client that uses the library's own functions for buckets, as other programs do.
private final class LibraryClient {
    private var connection: OpaquePointer?
    private var context: OpaquePointer?

    init(_ server: NATSServer) throws {
        #expect(natsConnection_ConnectTo(&connection, "nats://" + server.address) == NATS_OK)
        #expect(natsConnection_JetStream(&context, connection, nil) == NATS_OK)
    }

    deinit {
        jsCtx_Destroy(context)
        natsConnection_Destroy(connection)
    }

    func makeBucket(_ name: String, history: UInt8) {
        name.withCString { name in
            var configuration = kvConfig()
            kvConfig_Init(&configuration)
            (configuration.Bucket, configuration.History) = (name, history)
            var bucket: OpaquePointer?
            #expect(js_CreateKeyValue(&bucket, context, &configuration) == NATS_OK)
            kvStore_Destroy(bucket)
        }
    }

    func value(of key: String, in bucket: String) -> [UInt8]? {
        withBucket(bucket) { bucket in
            var entry: OpaquePointer?
            guard kvStore_Get(&entry, bucket, key) == NATS_OK else { return nil }
            defer { kvEntry_Destroy(entry) }
            return Array(UnsafeRawBufferPointer(start: kvEntry_Value(entry), count: Int(kvEntry_ValueLen(entry))))
        }
    }

    func delete(_ key: String, in bucket: String, isPurged: Bool) {
        withBucket(bucket) { bucket in
            #expect((isPurged ? kvStore_Purge(bucket, key, nil) : kvStore_Delete(bucket, key)) == NATS_OK)
        }
    }

    private func withBucket<T>(_ name: String, _ body: (OpaquePointer?) -> T) -> T {
        var bucket: OpaquePointer?
        #expect(js_KeyValue(&bucket, context, name) == NATS_OK)
        defer { kvStore_Destroy(bucket) }
        return body(bucket)
    }
}
