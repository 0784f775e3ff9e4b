import Backend
import Foundation
import Gateway
import Glibc
import Testing
import Wire

@Suite("A misbehaving peer", .onOwnThread, .timeLimit(.minutes(1)))
struct BadPeerTests {
    private let gateway: TestGateway
    private let call: BystanderCall

    init() throws {
        gateway = try TestGateway()
        call = try BystanderCall(on: gateway)
    }

    private func expectSoundCall() {
        let report = call.finish()
        #expect(report.isSound, "bystanders: \(report)")
    }

    @Test("gets 429 after twenty bad tokens, while valid tokens from its address are accepted")
    func tooManyFailures() throws {
        let source = Loopback.fresh()
        // Requests without a token are not failed attempts.
        for _ in 0..<30 { #expect(try HTTPAsk(path: "/v1/rooms").answer(port: gateway.port, from: source)?.status == 401) }
        for _ in 0..<20 {
            #expect(try HTTPAsk.upgrade(token: "x.y.z").answer(port: gateway.port, from: source)?.status == 401)
        }
        let bad = try #require(try HTTPAsk.upgrade(token: "x.y.z").answer(port: gateway.port, from: source))
        #expect(bad.status == 429)
        #expect(bad.code == "too_many_attempts")
        let good = HTTPAsk.upgrade(token: TestToken.joining("r", as: "eve"))
        #expect(try good.answer(port: gateway.port, from: source)?.status == 101)
        #expect(try HTTPAsk(path: "/v1/rooms").answer(port: gateway.port, from: source)?.status == 401)
        #expect(try HTTPAsk.upgrade(token: "x.y.z").answer(port: gateway.port)?.status == 401)
        #expect(try gateway.value(.joinRefused("too_many_attempts")) == 1)
        expectSoundCall()
    }

    @Test("is not refused for joining often with valid tokens")
    func oftenButRightly() throws {
        let source = Loopback.fresh()
        for number in 0..<40 {
            let ask = HTTPAsk.upgrade(token: TestToken.joining("r", as: "busy \(number)"))
            #expect(try ask.answer(port: gateway.port, from: source)?.status == 101)
        }
        expectSoundCall()
    }

    @Test("is removed at once if it resets the connection within a frame")
    func resetInMidFrame() throws {
        let lea = try Caller(gateway, room: "r", identity: "lea")
        for number in 0..<20 {
            let eve = try Caller(gateway, room: "r", identity: "eve")
            let track = try eve.publish()
            let bytes = RawFrame.binary(TestFrame.bytes(track.alias, number, packetBytes: 1_000)).bytes
            try eve.socket.socket.write(Array(bytes.prefix(1 + number * 50)))
            eve.socket.socket.reset()
            try lea.await(.participantLeft(eve.hello.participant.identity, reason: .signalClose))
        }
        #expect(lea.frames.isEmpty)
        expectSoundCall()
    }

    @Test("is removed if it never answers a close")
    func closeUnanswered() throws {
        let lea = try Caller(gateway, room: "r", identity: "lea")
        let eve = try Caller(gateway, room: "r", identity: "eve")
        eve.socket.isPolite = false
        try eve.socket.send(RawFrame(opcode: 1, payload: [0xFF]))
        #expect(try eve.closeCode() == 1007)
        try lea.await(.participantLeft(eve.hello.participant.identity, reason: .stateMismatch))
        expectSoundCall()
    }

    @Test("is removed after 15 s of silence, even if it is alone")
    func noSignOfLife() throws {
        let gateway = try TestGateway()
        let started = ContinuousClock.now
        let eve = try Caller(gateway, room: "r", identity: "eve")
        eve.socket.isPolite = false
        #expect(try eve.closeCode(within: .seconds(25)) == 4003)
        #expect(ContinuousClock.now - started > .seconds(14))
        try eve.await(.bye(.connectionTimeout, retryable: true))
        expectSoundCall()
    }

    @Test("is closed as a slow consumer if it never reads")
    func neverReads() throws {
        let room = "r"
        let lea = try Caller(gateway, room: room, identity: "lea")
        let eve = try Caller(gateway, room: room, identity: "eve", receiveBuffer: 2_048)
        let mal = try Caller(gateway, room: room, identity: "mal")
        let payload = String(repeating: "a", count: 60_000)
        var sent = 0
        try Patience.until("the slow one is closed") {
            for _ in 0..<5 {
                try mal.ask(.sendData(DataMessage(topic: "t", payload: .text(payload), to: [eve.hello.participant.identity])))
                sent += 1
            }
            return try gateway.value(.closed(4002)) == 1
        }
        // The kernel buffers some megabytes, the gateway 256 KiB more.
        #expect(sent >= 5)
        try lea.await(.participantLeft(eve.hello.participant.identity, reason: .mediaFailure))
        try mal.settle()
        expectSoundCall()
    }
}
