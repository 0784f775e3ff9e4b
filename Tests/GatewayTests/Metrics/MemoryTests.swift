import Foundation
import Testing
import Wire

/// Memory and slots are returned, whatever clients did.
@Suite(.onOwnThread, .serialized, .timeLimit(.minutes(1)))
struct MemoryTests {
    @Test func misbehavingClientsLeaveNoStateBehind() throws {
        let gateway = try TestGateway()
        try stay(0..<40, on: gateway)
        let before = Self.residentBytes
        try stay(40..<200, on: gateway)
        try Patience.until("nobody is left") { try gateway.value(.participants) == 0 }
        try Patience.until("no room is left") { try gateway.value(.rooms) == 0 }
        let metrics = try gateway.metrics()
        #expect(metrics.value(.framesHeld) == 0)
        #expect(metrics.value(Counter(name: "patchbay_tracks")) == 0)
        #expect(metrics.value(Counter(name: "patchbay_connections")) == 0)
        #expect(metrics.value(.joins) == 400)
        let grown = Self.residentBytes - before
        // Other tests run in this process too.
        #expect(grown < 64 << 20, "\(grown >> 20) MiB")
    }

    private func stay(_ numbers: Range<Int>, on gateway: TestGateway) throws {
        for number in numbers {
            let room = "room \(number % 7)"
            let eve = try Caller(gateway, room: room, identity: "eve \(number)")
            // Never reads, so that messages are queued for it when it leaves.
            let deaf = try Caller(gateway, room: room, identity: "deaf \(number)")
            let track = try eve.publish()
            for frame in 0..<20 { try eve.say(TestFrame.bytes(track.alias, frame, packetBytes: 1_000)) }
            var random = SplitMix64(seed: UInt64(number))
            for _ in 0..<10 { try eve.say(random.bytes(1 + Int(random.next() % 2_000))) }
            try eve.socket.send(text: #"{"type":"text.send","id":1,"data":{"text":"\#(String(repeating: "a", count: 5_000))"}}"#)
            try eve.socket.send(text: String(decoding: random.bytes(100).map { $0 & 0x7F }, as: UTF8.self))
            switch number % 4 {
            case 0: eve.socket.socket.reset()
            case 1: eve.socket.socket.close()
            case 2: try eve.socket.send(.close(1000))
            default: try eve.socket.socket.write([0x82, 0xFE, 0x05])
            }
            withExtendedLifetime(deaf) {}
        }
    }

    private static var residentBytes: Int {
        let fields = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ") ?? []
        return (fields.count > 1 ? Int(fields[1]) ?? 0 : 0) * 4_096
    }
}

extension SplitMix64 {
    mutating func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) } }
}
