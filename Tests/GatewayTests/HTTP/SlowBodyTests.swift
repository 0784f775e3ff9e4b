import Foundation
import Gateway
import HTTPServer
import Testing

@Suite("Bodies that trickle in", .onOwnThread, .serialized, .timeLimit(.minutes(1)))
struct SlowBodyTests {
    @Test("are cut off with 408 and affect nobody else")
    func manySlowBodies() throws {
        let gateway = try TestGateway(routes: WishList.routes()) { $0.handshakeSecondsMax = 3 }
        let bystanders = try BystanderCall(on: gateway)
        let ask = HTTPAsk(
            method: "POST", path: "/v1/lists/a/wishes", fields: [("Content-Type", "application/json"), ("Content-Length", "1000")])
        let started = ContinuousClock.now
        let slow = try (0..<40).map { _ in
            let connection = try HTTPConnection(gateway)
            // At once, because the gateway waits for a request as briefly as for a handshake.
            try connection.send(ask)
            return connection
        }
        let good = try HTTPConnection(gateway)
        let asked = ContinuousClock.now
        // A body may take three times as long as a handshake: 9 s, checked when a piece arrives.
        var lateAnswers = 0
        while ContinuousClock.now - started < .milliseconds(8_500) {
            for connection in slow { try connection.socket.write([UInt8(ascii: " ")]) }
            let began = ContinuousClock.now
            #expect(try good.answer(to: .json("POST", "/v1/lists/a/wishes", #"{"title":"ball"}"#))?.status == 201)
            if ContinuousClock.now - began >= .seconds(2) { lateAnswers += 1 }
            Thread.sleep(forTimeInterval: 0.5)
        }
        // One is late if this process pauses; all are if slow bodies hold up the others.
        #expect(lateAnswers <= 1)
        Thread.sleep(forTimeInterval: max(0, (.milliseconds(9_200) - (ContinuousClock.now - asked)) / .seconds(1)))
        // A connection that was late in the loop has been answered and may be closed.
        for connection in slow { try? connection.socket.write([UInt8(ascii: " ")]) }
        for connection in slow {
            let answer = try connection.next()
            #expect(answer?.status == 408 && answer?.code == "body_too_slow")
        }
        let report = bystanders.finish()
        #expect(report.isSound, "\(report)")
        #expect(try gateway.value(Counter(name: "patchbay_http_refused_total", labels: ["code": "body_too_slow"])) == 40)
    }
}
