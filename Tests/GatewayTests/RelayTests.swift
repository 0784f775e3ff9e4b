import Testing
import Wire

@Suite(.onOwnThread, .timeLimit(.minutes(1)))
struct RelayTests {
    let gateway: TestGateway

    init() throws { gateway = try TestGateway() }

    @Test func aFrameArrivesByteForByte() throws {
        let speaker = try Caller(gateway, room: "r", identity: "speaker")
        let listener = try Caller(gateway, room: "r", identity: "listener")
        let track = try speaker.publish()
        for number in 0..<50 {
            let frame = TestFrame.bytes(track.alias, number, packetBytes: 1 + number * 30)
            try speaker.say(frame)
            #expect(try listener.frame() == frame)
        }
    }
    @Test func bystandersTalk() throws {
        let call = try BystanderCall(on: gateway)
        let report = call.finish()
        #expect(report.isSound, "\(report)")
    }
}
