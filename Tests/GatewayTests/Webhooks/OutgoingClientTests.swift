import Backend
import Foundation
import Gateway
import OutgoingHTTP
import Testing

/// Outgoing requests to servers with unusual behaviour.
@Suite(.onOwnThread, .timeLimit(.minutes(1)))
struct OutgoingClientTests {
    private static func send(
        to url: String, timeout: Duration = .seconds(10), authority: String? = nil
    ) async throws -> OutgoingResponse {
        let headers = [OutgoingHeader("content-type", "application/webhook+json"), OutgoingHeader("authorization", "token")]
        let request = OutgoingHTTPRequest(url: url, headers: headers, body: Array(#"{"event":"x"}"#.utf8))
        return try await OutgoingClient(authority: authority).outgoing(timeout: timeout)(request)
    }

    @Test func requestArrivesUnmodified() async throws {
        let server = try RawReceiver()
        defer { server.close() }
        #expect(try await Self.send(to: server.url("/a%20b?c=d%2Fe")).status == 200)
        let request = try #require(server.requests.first)
        #expect(request.path == "/a%20b?c=d%2Fe")
        #expect(String(decoding: request.body, as: UTF8.self) == #"{"event":"x"}"#)
        #expect(request.fields["content-type"] == "application/webhook+json" && request.fields["authorization"] == "token")
        #expect(request.fields["host"] == "127.0.0.1:\(server.port)")
        #expect(Set(request.fields.keys) == ["authorization", "connection", "content-length", "content-type", "host"])
    }

    @Test func largeBodyIsSentAtOnce() async throws {
        let server = try RawReceiver()
        defer { server.close() }
        let body = [UInt8](repeating: 7, count: 3 << 20)
        let send = try OutgoingClient().outgoing()
        #expect(try await send(OutgoingHTTPRequest(url: server.url(), headers: [], body: body)).status == 200)
        let request = try #require(server.requests.first)
        #expect(request.body == body && request.fields["expect"] == nil)
    }

    @Test func aHeaderCannotAddAnother() async throws {
        let server = try RawReceiver()
        defer { server.close() }
        let request = OutgoingHTTPRequest(url: server.url(), headers: [OutgoingHeader("x-one", "a\r\nx-two: b")], body: [1])
        let send = try OutgoingClient().outgoing()
        await #expect(throws: OutgoingError.self) { try await send(request) }
        #expect(server.requests.isEmpty)
    }

    @Test func unreadBytesOfAStreamAreBoundedAndComplete() async throws {
        let length = 8 << 20
        let server = try RawReceiver { _, _ in
            .text("HTTP/1.1 200 OK\r\nX-One:  a b \r\ncontent-length: \(length)\r\n\r\n" + String(repeating: "x", count: length))
        }
        defer { server.close() }
        let stream = try await OutgoingClient(connections: .shared).open(OutgoingHTTPRequest(url: server.url(), headers: [], body: [1]))
        #expect(stream.status == 200 && stream.header("x-one") == "a b")
        var received = 0
        while let bytes = try await stream.next() {
            received += bytes.count
            // 256 KiB, and what libcurl hands over in one piece.
            #expect(bytes.count <= 288 << 10)
            // Other tasks run, so that the reader falls behind.
            try await Task.sleep(for: .milliseconds(2))
        }
        #expect(received == length)
    }

    /// Interim responses precede the response, and trailers follow it.
    @Test func onlyTheFinalHeadCounts() async throws {
        let head = "HTTP/1.1 103 Early Hints\r\nx-one: early\r\n\r\nHTTP/1.1 200 OK\r\nx-two: b\r\ntransfer-encoding: chunked\r\n\r\n"
        let server = try RawReceiver { _, _ in .text(head + "4\r\ndone\r\n0\r\nx-three: c\r\n\r\n") }
        defer { server.close() }
        let stream = try await OutgoingClient().open(OutgoingHTTPRequest(url: server.url(), headers: [], body: []))
        #expect(stream.status == 200 && stream.header("x-two") == "b" && stream.header("x-one") == nil)
        #expect(try await stream.body(bytesMax: 4) == Array("done".utf8) && stream.header("x-three") == nil)
    }

    @Test func headWithoutEndIsAnError() async throws {
        let server = try RawReceiver { _, _ in .text("HTTP/1.1 200 OK\r\n" + String(repeating: "x-one: aaaaaaaaaaaaaaaa\r\n", count: 9_000))
        }
        defer { server.close() }
        await #expect(throws: OutgoingError.self) { try await Self.send(to: server.url()) }
    }

    @Test func fileWithoutACertificateIsNamedInTheError() {
        #expect(throws: OutgoingError.trust(path: "/dev/null")) { try OutgoingClient(authority: "/dev/null") }
    }

    /// The ways in which servers delimit a response.
    @Test(arguments: [
        ("HTTP/1.1 204 No Content\r\n\r\n", 204, ""),
        ("HTTP/1.0 200 OK\r\n\r\n", 200, ""),
        ("HTTP/1.0 200 OK\r\n\r\nall of it", 200, "all of it"),
        ("HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\ndone", 200, "done"),
        ("HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n", 202, ""),
        ("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\ndone\r\n0\r\n\r\n", 200, "done"),
        ("HTTP/1.1 500 Oh\r\ncontent-length: 3\r\n\r\noh!", 500, "oh!"),
    ])
    func responseIsRead(_ text: String, status: Int, body: String) async throws {
        let server = try RawReceiver { _, _ in .text(text) }
        defer { server.close() }
        let answer = try await Self.send(to: server.url(), timeout: .seconds(5))
        #expect(answer.status == status)
        #expect(String(decoding: answer.body, as: UTF8.self) == body)
    }

    @Test(arguments: [301, 302, 307, 308])
    func redirectsAreNotFollowed(_ status: Int) async throws {
        let elsewhere = try RawReceiver()
        defer { elsewhere.close() }
        let url = elsewhere.url()
        let server = try RawReceiver { _, _ in .text("HTTP/1.1 \(status) Go\r\nlocation: \(url)\r\ncontent-length: 0\r\n\r\n") }
        defer { server.close() }
        #expect(try await Self.send(to: server.url()).status == status)
        #expect(elsewhere.requests.isEmpty)
    }

    @Test func endlessResponseIsCutOff() async throws {
        let server = try RawReceiver { _, _ in .text("HTTP/1.0 200 OK\r\n\r\n" + String(repeating: "x", count: 3 << 20)) }
        defer { server.close() }
        await #expect(throws: OutgoingError.responseTooLong(bytesMax: OutgoingClient.responseBytesMax)) {
            try await Self.send(to: server.url())
        }
    }

    @Test func truncatedResponseIsAnError() async throws {
        let server = try RawReceiver { _, _ in .text("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nshort") }
        defer { server.close() }
        await #expect(throws: OutgoingError.self) { try await Self.send(to: server.url()) }
    }

    @Test func silentServerTimesOut() async throws {
        let server = try RawReceiver { _, _ in .silence }
        defer { server.close() }
        let begin = ContinuousClock.now
        await #expect(throws: OutgoingError.timeout) { try await Self.send(to: server.url(), timeout: .milliseconds(300)) }
        #expect(ContinuousClock.now - begin < .seconds(5))
    }

    @Test(arguments: [
        "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nshort", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\ndone\r\n",
        "HTTP/1.0 200 OK\r\n\r\n",
    ])
    func responseThatStallsAfterItsHeadTimesOut(_ text: String) async throws {
        let server = try RawReceiver { _, _ in .part(text) }
        defer { server.close() }
        await #expect(throws: OutgoingError.timeout) { try await Self.send(to: server.url(), timeout: .milliseconds(300)) }
    }

    @Test func cancellationEndsAStalledResponse() async throws {
        let server = try RawReceiver { _, _ in .part("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nshort") }
        defer { server.close() }
        let url = server.url()
        let request = Task { try await Self.send(to: url, timeout: .seconds(60)) }
        try server.wait(for: 1)
        request.cancel()
        await #expect(throws: OutgoingError.cancelled) { try await request.value }
    }

    @Test func refusedConnectionIsAnError() async throws {
        let server = try RawReceiver()
        server.close()
        await #expect(throws: OutgoingError.refused("127.0.0.1")) { try await Self.send(to: server.url()) }
    }

    @Test func unknownHostIsAnError() async throws {
        await #expect(throws: OutgoingError.unknownHost("nobody.invalid")) { try await Self.send(to: "https://nobody.invalid/") }
    }

    @Test func cancellationReturnsAtOnce() async throws {
        let server = try RawReceiver { _, _ in .silence }
        defer { server.close() }
        let url = server.url()
        let request = Task { try await Self.send(to: url, timeout: .seconds(60)) }
        try server.wait(for: 1)
        request.cancel()
        await #expect(throws: OutgoingError.cancelled) { try await request.value }
    }

    @Test func trustedCertificateIsAccepted() async throws {
        let certificate = Certificate.make(serial: 71)
        let server = try RawReceiver(certificate: certificate)
        defer { server.close() }
        #expect(try await Self.send(to: server.url(), authority: certificate.certificateURL.path).status == 200)
    }

    /// A trusted certificate for another address, and an untrusted one for this address.
    @Test(arguments: [([127, 0, 0, 9], true), ([127, 0, 0, 1], false)] as [([UInt8], Bool)])
    func nothingIsSentToAServerWithAWrongCertificate(address: [UInt8], isTrusted: Bool) async throws {
        let certificate = Certificate.make(serial: 72, address: address)
        let server = try RawReceiver(certificate: certificate)
        defer { server.close() }
        let authority = isTrusted ? certificate.certificateURL.path : nil
        await #expect(throws: OutgoingError.untrusted("127.0.0.1")) { try await Self.send(to: server.url(), authority: authority) }
        #expect(server.requests.isEmpty)
    }

    @Test func hangingServersDoNotDelayOthers() async throws {
        let (dead, alive) = (try RawReceiver { _, _ in .silence }, try RawReceiver())
        defer {
            dead.close()
            alive.close()
        }
        let send = try OutgoingClient().outgoing(timeout: .seconds(30))
        let waiting = (0..<30).map { _ in
            Task { _ = try await send(OutgoingHTTPRequest(url: dead.url(), headers: [], body: [1])) }
        }
        try dead.wait(for: 30)
        let begin = ContinuousClock.now
        for _ in 0..<20 { #expect(try await send(OutgoingHTTPRequest(url: alive.url(), headers: [], body: [1])).status == 200) }
        #expect(ContinuousClock.now - begin < .seconds(10))
        for task in waiting { task.cancel() }
        for task in waiting { _ = await task.result }
    }

    @Test func requestsBeyondTheLimitFailAtOnce() async throws {
        let server = try RawReceiver { _, _ in .silence }
        defer { server.close() }
        let send = try OutgoingClient(requestsMax: 2).outgoing(timeout: .seconds(30))
        let request = OutgoingHTTPRequest(url: server.url(), headers: [], body: [1])
        let first = Task { try await send(request) }
        try server.wait(for: 1)
        let others = (0..<2).map { _ in Task { try await send(request) } }
        // One of the two is queued; the other fails at once.
        let refused = await withTaskGroup { group in
            for task in others {
                group.addTask { if case .failure(OutgoingError.busy) = await task.result { true } else { false } }
            }
            let isFirstRefused = await group.next() ?? false
            for task in [first] + others { task.cancel() }
            return isFirstRefused
        }
        #expect(refused)
        for task in [first] + others { _ = await task.result }
    }

    @Test(arguments: [
        "ftp://host/", "host/path", "", "https://", "https://user:secret@host/", "https://host/#part", "wss://host", "https://host:0/",
        "https://[::1]/",
    ])
    func unusableURLIsNamedInTheError(_ text: String) {
        #expect(throws: OutgoingError.self) { try OutgoingURL(text) }
    }
}
