import Identity
import Testing
import Wire

@Suite("A binary message is dropped", .besideACall, .onOwnThread, .serialized, .timeLimit(.minutes(1)))
struct BadFrameTests {
    let gateway: TestGateway

    init() throws { gateway = try TestGateway.besideACall }

    @Test("if it is too short", arguments: BadFrame.short)
    func short(_ bad: BadFrame) throws { try drop(bad) }

    @Test("for its header", arguments: BadFrame.ofHeader)
    func header(_ bad: BadFrame) throws { try drop(bad) }

    @Test("for its track", arguments: BadFrame.ofTrack)
    func track(_ bad: BadFrame) throws { try drop(bad) }

    @Test("for its bundle", arguments: BadFrame.ofBundle)
    func bundle(_ bad: BadFrame) throws { try drop(bad) }

    @Test("while its sender is on hold")
    func held() throws {
        let stage = try stage()
        try stage.eve.ask(.hold(true))
        let before = try gateway.value(.dropped("held"))
        try stage.eve.say(TestFrame.bytes(stage.own.alias, 1))
        try stage.eve.ask(.hold(false))
        try expectOnlyGood(stage)
        #expect(try gateway.value(.dropped("held")) == before + 1)
    }

    @Test("but not the valid frames in the same bundle")
    func soundBesideUnsound() throws {
        let stage = try stage()
        let frames = [1, 2, 3].map { TestFrame.bytes(stage.own.alias, $0) }
        var unsound = frames[1]
        unsound[1] = 0x08
        try stage.eve.say(Bundle.joining([frames[0], unsound, frames[2]]))
        #expect(try stage.lea.frame() == frames[0])
        #expect(try stage.lea.frame() == frames[2])
    }

    @Test("above a rate of 100 frames per second with a burst of 100")
    func tooFast() throws {
        let stage = try stage()
        let before = try gateway.value(.dropped("rate"))
        let started = ContinuousClock.now
        for number in 0..<1_000 { try stage.eve.say(TestFrame.bytes(stage.own.alias, number)) }
        try stage.eve.settle()
        let seconds = (ContinuousClock.now - started) / .seconds(1)
        let dropped = try gateway.value(.dropped("rate")) - before
        let passed = 1_000 - dropped
        #expect(passed >= 100)
        #expect(passed <= 101 + 100 * seconds)
        // The frames within the limit arrived in order.
        try stage.lea.take(until: "\(Int(passed)) frames") { Double($0.frames.count) >= passed }
        let numbers = stage.lea.frames.map { TestFrame.sequence(of: $0.bytes) }
        #expect(Double(numbers.count) == passed)
        #expect(numbers == numbers.sorted())
        #expect(numbers.prefix(100) == ArraySlice(0..<100))
    }

    @Test("and a hundred malformed ones in a second close the connection")
    func hundredMalformed() throws {
        let stage = try stage()
        let before = try gateway.value(.closed(4106))
        try stage.eve.socket.socket.write((0..<100).flatMap { _ in RawFrame.binary([0]).bytes })
        try stage.eve.await(.bye(.stateMismatch, retryable: false))
        #expect(try stage.eve.closeCode() == 4106)
        #expect(try gateway.value(.closed(4106)) == before + 1)
        try stage.lea.await(.participantLeft(Identity(text: "eve"), reason: .stateMismatch))
    }

    @Test("and ninety-nine malformed ones in a second are tolerated")
    func ninetyNineMalformed() throws {
        let stage = try stage()
        try stage.eve.socket.socket.write((0..<99).flatMap { _ in RawFrame.binary([0]).bytes })
        try expectOnlyGood(stage)
    }

    @Test("and one over 16 KiB closes the connection", arguments: [16_385, 20_000, 70_000, 1 << 20])
    func tooBig(_ count: Int) throws {
        let stage = try stage()
        let before = try gateway.value(.closed(1009))
        // The gateway may close before reading all of it.
        try? stage.eve.say([UInt8](repeating: 0x41, count: count))
        #expect(try stage.eve.closeCode() == 1009)
        #expect(try gateway.value(.closed(1009)) == before + 1)
    }

    // MARK: Helpers

    /// Lea is an agent, so that late reads by this process do not cause dropped frames.
    private func stage() throws -> BadFrame.Stage {
        let room = "table \(UInt64.random(in: 0 ... .max))"
        let (eve, mal, lea) = try (
            Caller(gateway, room: room, identity: "eve"), Caller(gateway, room: room, identity: "mal"),
            Caller(gateway, room: room, identity: "lea") { $0.kind = .agent }
        )
        return try BadFrame.Stage(eve: eve, lea: lea, own: eve.publish(), others: mal.publish())
    }

    private func drop(_ bad: BadFrame) throws {
        let stage = try stage()
        let message = try bad.message(stage)
        let before = try gateway.value(bad.counter)
        try stage.eve.say(message)
        try expectOnlyGood(stage)
        #expect(try gateway.value(bad.counter) == before + bad.count)
    }

    /// Expects that Eve is still connected and that Lea receives only the next valid frame.
    private func expectOnlyGood(_ stage: BadFrame.Stage) throws {
        try stage.eve.settle()
        let good = TestFrame.bytes(stage.own.alias, 7)
        try stage.eve.say(good)
        #expect(try stage.lea.frame() == good)
    }
}
