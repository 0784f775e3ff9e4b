import Backend
import Foundation
import Gateway
import Glibc
import HTTPServer
import Testing
import Wire

@Suite("On one HTTP connection", .onOwnThread, .serialized, .timeLimit(.minutes(1)))
struct HTTPConnectionTests {
    private let gate = Gate()
    private let gateway: TestGateway

    init() throws {
        gateway = try TestGateway(routes: WishList.routes(gate: gate)) { $0.handshakeSecondsMax = 2 }
    }

    private func named(_ ask: HTTPAsk, _ id: String) -> HTTPAsk {
        var ask = ask
        ask.fields.append((name: "X-Request-ID", value: id))
        return ask
    }

    @Test("requests with and without bodies follow each other")
    func keepAlive() throws {
        let connection = try HTTPConnection(gateway)
        for number in 0..<50 {
            let added = try #require(try connection.answer(to: .json("POST", "/v1/lists/\(number)/wishes", #"{"title":"ball"}"#)))
            #expect(added.status == 201)
            #expect(added.json?["list"] as? String == String(number))
            #expect(try connection.answer(to: HTTPAsk(path: "/v1/lists/ann/wishes"))?.status == 200)
            #expect(try connection.answer(to: HTTPAsk(method: "DELETE", path: "/v1/rooms"))?.status == 405)
        }
    }

    @Test("Connection: close is confirmed and obeyed", arguments: ["close", "Close", "keep-alive, close"])
    func closing(option: String) throws {
        let connection = try HTTPConnection(gateway)
        let usual = try #require(try connection.answer(to: HTTPAsk(path: "/healthz")))
        #expect(usual.fields["connection"] != "close")
        var ask = HTTPAsk(path: "/healthz")
        ask.fields.append((name: "Connection", value: option))
        let last = try #require(try connection.answer(to: ask))
        #expect(last.status == 200)
        #expect(last.fields["connection"] == "close")
        #expect(try connection.next() == nil)
    }

    @Test("pipelined requests are answered in order, even if the first takes longest", arguments: [true, false])
    func pipelining(areTogether: Bool) throws {
        let connection = try HTTPConnection(gateway)
        let asks = [
            named(HTTPAsk(path: "/v1/lists/first/late"), "1"), named(HTTPAsk(path: "/v1/lists/b/wishes"), "2"),
            named(HTTPAsk(path: "/nowhere"), "3"), named(HTTPAsk(path: "/v1/lists/d/late"), "4"), named(HTTPAsk(path: "/healthz"), "5"),
        ]
        if areTogether {
            try connection.socket.write(asks.flatMap(\.bytes))
        } else {
            for ask in asks { try connection.send(ask) }
        }
        try Patience.until("the first is being answered") { gate.waitingCount == 1 }
        gate.open()
        for (id, status) in [("1", 200), ("2", 200), ("3", 404), ("4", 200), ("5", 200)] {
            let answer = try #require(try connection.next())
            #expect(answer.fields["x-request-id"] == id)
            #expect(answer.status == status)
        }
    }

    @Test("a hundred pipelined requests get a hundred responses")
    func longPipeline() throws {
        let connection = try HTTPConnection(gateway)
        let first = named(.json("POST", "/v1/lists/a/wishes", #"{"title":"ball"}"#), "first")
        let asks = (0..<100).map { named(HTTPAsk(path: "/v1/lists/a/wishes"), String($0)) }
        try connection.socket.write(first.bytes + asks.flatMap(\.bytes))
        #expect(try connection.next()?.status == 201)
        for number in 0..<100 { #expect(try connection.next()?.fields["x-request-id"] == String(number)) }
    }

    @Test("pipelined bodies are read, wherever the stream is cut", arguments: [Int.max, 1_000, 97, 1])
    func pipelinedBodies(pieceBytes: Int) throws {
        let connection = try HTTPConnection(gateway)
        let titles = ["ball", String(repeating: "a", count: 700), "GET /healthz HTTP/1.1", "kite"]
        var bytes = HTTPAsk(path: "/healthz").bytes
        for title in titles { bytes += HTTPAsk.json("POST", "/v1/lists/a/wishes", #"{"title":"\#(title)"}"#).bytes }
        bytes += HTTPAsk(path: "/healthz").bytes
        while !bytes.isEmpty {
            try connection.socket.write(Array(bytes.prefix(pieceBytes)))
            bytes.removeFirst(min(pieceBytes, bytes.count))
        }
        #expect(try connection.next()?.text == "ok\n")
        for title in titles {
            let added = try #require(try connection.next())
            #expect(added.status == 201)
            #expect((added.json?["wish"] as? [String: Any])?["title"] as? String == title)
        }
        #expect(try connection.next()?.text == "ok\n")
        #expect(try connection.answer(to: HTTPAsk(path: "/healthz"))?.status == 200)
    }

    @Test("a body pipelined behind a request that is being answered waits")
    func bodyBehindALateAnswer() throws {
        let connection = try HTTPConnection(gateway)
        let wish = HTTPAsk.json("POST", "/v1/lists/b/wishes", #"{"title":"ball"}"#)
        try connection.send(named(HTTPAsk(path: "/v1/lists/a/late"), "1"), named(wish, "2"))
        try Patience.until("the first is being answered") { gate.waitingCount == 1 }
        try connection.send(named(wish, "3"), named(HTTPAsk(path: "/v1/lists/a/late"), "4"), named(wish, "5"))
        gate.open()
        for (id, status) in [("1", 200), ("2", 201), ("3", 201), ("4", 200), ("5", 201)] {
            let answer = try #require(try connection.next())
            #expect(answer.fields["x-request-id"] == id)
            #expect(answer.status == status)
        }
    }

    @Test("a body of 1 MiB may be followed by requests at once")
    func largeBodyBeforeOthers() throws {
        let connection = try HTTPConnection(gateway)
        let title = String(repeating: "a", count: 1 << 20 - #"{"title":""}"#.utf8.count)
        let large = HTTPAsk.json("POST", "/v1/lists/a/wishes", #"{"title":"\#(title)"}"#)
        try connection.send(large, .json("POST", "/v1/lists/a/wishes", #"{"title":"ball"}"#), HTTPAsk(path: "/healthz"))
        for status in [201, 201, 200] { #expect(try connection.next()?.status == status) }
    }

    @Test("a client that sends its last requests and ends its side gets all responses")
    func endedBehindPipelinedRequests() throws {
        let connection = try HTTPConnection(gateway)
        let wish = HTTPAsk.json("POST", "/v1/lists/a/wishes", #"{"title":"ball"}"#)
        try connection.send(HTTPAsk(path: "/v1/lists/a/late"), wish, HTTPAsk(path: "/healthz"))
        try Patience.until("the first is being answered") { gate.waitingCount == 1 }
        connection.socket.sayGoodbye()
        gate.open()
        for status in [200, 201, 200] { #expect(try connection.next()?.status == status) }
    }

    @Test("HEAD is answered like GET, without the body")
    func head() throws {
        let connection = try HTTPConnection(gateway)
        let answer = try #require(try connection.answer(to: HTTPAsk(method: "HEAD", path: "/healthz")))
        #expect(answer.status == 200)
        #expect(answer.fields["content-length"] == "3")
        #expect(try connection.answer(to: HTTPAsk(path: "/healthz"))?.text == "ok\n")
    }

    @Test("a POST without a length has no body (RFC 9112 section 6.3)")
    func unknownLength() throws {
        let connection = try HTTPConnection(gateway)
        let answer = try #require(try connection.answer(to: HTTPAsk(method: "POST", path: "/v1/lists/a/wishes")))
        #expect(answer.status == 400)
        #expect(answer.fields["connection"] == nil)
        #expect(try connection.answer(to: HTTPAsk(path: "/healthz"))?.status == 200)
    }

    @Test("a body may arrive in small pieces")
    func piecemeal() throws {
        let connection = try HTTPConnection(gateway)
        for byte in HTTPAsk.json("POST", "/v1/lists/a/wishes", #"{"title":"ball"}"#).bytes { try connection.socket.write([byte]) }
        #expect(try connection.next()?.status == 201)
        #expect(try connection.answer(to: HTTPAsk(path: "/healthz"))?.status == 200)
    }

    @Test("a body that trickles in is cut off with 408")
    func slowBody() throws {
        let connection = try HTTPConnection(gateway)
        try connection.send(HTTPAsk(method: "POST", path: "/v1/lists/a/wishes", fields: [("Content-Length", "1000")]))
        let started = ContinuousClock.now
        var answer: [UInt8] = []
        while answer.isEmpty, ContinuousClock.now - started < .seconds(20) {
            try connection.socket.write([UInt8(ascii: " ")])
            do { answer = try connection.socket.read(within: .milliseconds(300)) } catch is DidNotHappen {}
        }
        #expect(String(decoding: answer.prefix(12), as: UTF8.self) == "HTTP/1.1 408")
        // The client keeps sending; the connection must close all the same.
        while ContinuousClock.now - started < .seconds(30) {
            guard (try? connection.socket.write([UInt8(ascii: " ")])) != nil else { break }
            do { if try connection.socket.read(within: .milliseconds(300)).isEmpty { break } } catch is DidNotHappen {}
        }
        #expect(ContinuousClock.now - started < .seconds(25))
    }

    @Test("a body of 1 MiB is read, and one byte more gets a readable refusal", arguments: [0, 1])
    func largestBody(more: Int) throws {
        let connection = try HTTPConnection(gateway)
        let frame = #"{"title":""}"#
        let title = String(repeating: "a", count: 1 << 20 - frame.utf8.count + more)
        let answer = try #require(try connection.answer(to: .json("POST", "/v1/lists/a/wishes", #"{"title":"\#(title)"}"#)))
        #expect(answer.status == (more == 0 ? 201 : 413))
        if more == 0 {
            #expect(try connection.answer(to: HTTPAsk(path: "/healthz"))?.status == 200)
        } else {
            #expect(answer.code == "body_too_large")
            #expect(try connection.isAtEnd())
        }
    }

    @Test("a request that arrives with the end of the handshake may take longer than a handshake")
    func withTheHandshake() throws {
        let socket = try RawSocket(port: gateway.port)
        // A corked socket sends the end of its handshake together with the request.
        try socket.together {
            try socket.startTLS()
            try socket.write(HTTPAsk(path: "/v1/lists/a/late").bytes)
        }
        Thread.sleep(forTimeInterval: 3)
        gate.open()
        #expect(try HTTPConnection(on: socket).next()?.status == 200)
    }

    @Test("a client that ends its side gets the responses to all its requests")
    func halfClosed() throws {
        let connection = try HTTPConnection(gateway)
        try connection.send(HTTPAsk(path: "/v1/lists/a/late"), HTTPAsk(path: "/healthz"), HTTPAsk(path: "/healthz"))
        shutdown(connection.socket.descriptor, Int32(SHUT_WR))
        Thread.sleep(forTimeInterval: 0.3)
        gate.open()
        for _ in 0..<3 { #expect(try connection.next()?.status == 200) }
        #expect(try connection.isAtEnd())
    }

    @Test("a slow reader gets a response of megabytes completely, and the next one")
    func largeAnswer() throws {
        let connection = try HTTPConnection(gateway, receiveBuffer: 4_096)
        try connection.send(HTTPAsk(path: "/v1/sound?bytes=5000000"), HTTPAsk(path: "/healthz"))
        Thread.sleep(forTimeInterval: 0.3)
        let answer = try #require(try connection.next())
        // A failing `#expect(a == b)` would compute a minimal diff, which takes hours for megabytes.
        let isWhole = answer.body == WishList.sound(5_000_000)
        #expect(isWhole, "\(answer.status) with \(answer.body.count) bytes")
        #expect(try connection.next()?.text == "ok\n")
    }

    @Test("a response continues while the client acknowledges what the kernel has buffered")
    func slowResponse() throws {
        let connection = try HTTPConnection(gateway, receiveBuffer: 4_096)
        try connection.send(HTTPAsk(path: "/v1/sound?bytes=5000000"))
        var received = 0
        while received < 5_000_000 {
            let piece = try connection.socket.read()
            guard !piece.isEmpty else { break }
            received += piece.count
            // At 25 KB/s, the socket becomes writable only after the 6 s that this gateway allows for a piece.
            if received < 400_000 { Thread.sleep(forTimeInterval: Double(piece.count) / 25_000) }
        }
        #expect(received > 5_000_000)
    }

    @Test("a client that stops reading in the middle of a response is disconnected")
    func stalledResponse() throws {
        let connection = try HTTPConnection(gateway, receiveBuffer: 4_096)
        try connection.send(HTTPAsk(path: "/v1/sound?bytes=5000000"))
        // The gateway allows 6 s for a piece.
        Thread.sleep(forTimeInterval: 15)
        var received = 0
        while case let piece = try connection.socket.read(), !piece.isEmpty { received += piece.count }
        #expect(received < 5_000_000)
    }

    @Test("a client that disconnects before the response affects nobody else")
    func goneBeforeTheAnswer() throws {
        for number in 0..<10 {
            let connection = try HTTPConnection(gateway)
            try connection.send(HTTPAsk(path: "/v1/lists/a/late"))
            try Patience.until("it is being answered") { gate.waitingCount == number + 1 }
            if number.isMultiple(of: 2) { connection.socket.reset() } else { connection.socket.close() }
        }
        gate.open()
        #expect(try gateway.get("/healthz")?.status == 200)
        let late = Counter(name: "patchbay_http_requests_total", labels: ["route": "GET /v1/lists/:list/late", "status": "200"])
        try Patience.until("all ten are through") { try gateway.value(late) == 10 }
    }

    @Test("HTTP/2 is neither offered nor accepted")
    func http2() throws {
        let preface = try HTTPConnection(gateway)
        try preface.socket.write(Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\u{4}\0\0\0\0\0".utf8))
        let answer = try preface.next()
        #expect(answer.map { 400...499 ~= $0.status } ?? true, "\(answer?.status ?? 0) \(answer?.text ?? "")")
        let upgrade = try HTTPConnection(gateway)
        let fields = [
            (name: "Connection", value: "Upgrade, HTTP2-Settings"), (name: "Upgrade", value: "h2c"),
            (name: "HTTP2-Settings", value: "AAMAAABkAAQAAP__"),
            (name: "Authorization", value: "Bearer " + TestToken.joining("table", as: "eve")),
            (name: "Sec-WebSocket-Protocol", value: "patchbay.v1"),
        ]
        let refused = try #require(try upgrade.answer(to: HTTPAsk(path: "/v1/rtc", fields: fields)))
        #expect(refused.status == 400)
        #expect(refused.code == "upgrade_refused")
        #expect(try upgrade.isAtEnd())
    }
}
