import Backend
import Engine
import Gateway
import Identity
import Testing
import Wire

/// A car's screen in a real call: its token excludes text for it alone.
@Suite(.onOwnThread, .serialized, .timeLimit(.minutes(1)))
struct TextlessCallerTests {
    private static let secret = "meet me at the harbour"

    /// Everything received over the socket, verbatim.
    private func everything(_ caller: Caller) throws -> String {
        try caller.settle()
        return caller.events.map { "\($0)" }.joined(separator: "\n") + "\(caller.hello)"
    }

    @Test(arguments: [0, 1])
    func carReceivesNoText(shard: Int) async throws {
        let gateway = try TestGateway { $0.room.resumeWindow = .seconds(20) }
        let helper = try Caller(gateway, room: "r", identity: "helper", shard: 0) { $0.kind = .agent }
        let phone = try Caller(gateway, room: "r", identity: "phone", shard: 0)
        let payload = TestToken.payload(room: "r", identity: "car", more: #","patchbay":{"text":false}"#)
        var socket = try gateway.webSocket(.upgrade(token: TestToken.forged(payload: payload)), shard: shard)
        var car = try Caller(on: socket, goingOnAfter: 0)
        func talk(_ id: String) async throws {
            try helper.ask(.segment(TranscriptSegment(id: id, role: .assistant, text: Self.secret, final: true)))
            try helper.ask(.sendText(TextMessage(text: Self.secret)))
            try helper.ask(.sendText(TextMessage(text: Self.secret, to: [Identity(text: "car")])))
            try helper.ask(.sendData(DataMessage(topic: "t", payload: .text(Self.secret))))
            try helper.ask(.sendData(DataMessage(topic: "t", payload: .base64("bWVldCBtZSBhdCB0aGUgaGFyYm91cg=="))))
            #expect(await gateway.gateway.rooms.attempt(.sendData(DataMessage(topic: "t", payload: .text(Self.secret), to: nil)), in: "r"))
        }
        try await talk("s1")
        #expect(try !everything(car).contains("harbour") && !everything(car).contains("bWVldCBt"))
        #expect(try everything(phone).contains("harbour"))

        // It loses its connection, misses some text, and resumes.
        car.socket.socket.reset()
        try Patience.until("the gateway knows") { try gateway.away() == 1 }
        try await talk("s2")
        let path = "/v1/rtc?resume=\(car.hello.resumeToken)&last_seq=\(car.lastSeq)"
        socket = try gateway.webSocket(.upgrade(token: TestToken.forged(payload: payload), path: path), shard: 1 - shard)
        car = try Caller(on: socket, goingOnAfter: car.lastSeq)
        #expect(car.hello.resumed == true)
        #expect(try !everything(car).contains("harbour") && !everything(car).contains("bWVldCBt"))

        // After a fresh join it gets none of the earlier text.
        socket = try gateway.webSocket(.upgrade(token: TestToken.forged(payload: payload)), shard: shard)
        car = try Caller(on: socket, goingOnAfter: 0)
        #expect(try !everything(car).contains("harbour"))
        let late = try Caller(gateway, room: "r", identity: "late")
        // What is replayed comes from the room's shard, and the answer to a ping from the caller's own.
        try late.take(until: "the earlier text") { $0.events.contains { "\($0)".contains("harbour") } }
    }
}
