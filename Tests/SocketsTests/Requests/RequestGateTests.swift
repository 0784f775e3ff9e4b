import Sockets
import Testing

struct RequestGateTests {
    private static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }
    static let get = bytes("GET /a HTTP/1.1\r\nHost: h\r\n\r\n")
    static let post = bytes(
        "POST /b HTTP/1.1\r\nHost: h\r\nContent-Length: 30\r\n\r\nGET / HTTP/1.1\r\n\r\n\0\n\n\n\n\n\n\n\n\n\n\n")
    static let upgrade = bytes(
        "GET /c HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
            + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
    private static let body = String(decoding: post.suffix(30), as: UTF8.self)

    @Test(arguments: [Int.max, 1, 7])
    func requestsAreSplitOneByOne(piece: Int) {
        let read = ReadStream(Self.get + Self.post + Self.get + Self.upgrade + [0x81, 0x00, 0x0A], inPiecesOf: piece)
        #expect(read.summary == ["GET /a", "end", "POST /b", "body \(Self.body)", "end", "GET /a", "end", "GET /c", "end"])
        #expect(read.rest == [0x81, 0x00, 0x0A])
    }

    /// All kinds of requests, and the beginning of frames.
    private static let stream =
        get + [13, 10] + post + bytes("HEAD /d?e=%20 HTTP/1.1\r\nhost: h:1\r\nX: a\tb\r\nX:\r\n\r\n") + post + upgrade + [
            0x81, 0x00, 0x0D, 0x0A,
        ]

    @Test(arguments: [
        stream, get + post + bytes("GET / HTTP/1.1\nHost: h\n\n"), get + bytes("GET / HTTP/1.1\r\n X: y\r\n\r\n"),
        get + bytes("\r\n\r\n\r\n"), get + bytes("GET /.. HTTP/1.1\r\nHost: h\r\n\r\n") + get,
        bytes("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        bytes("POST / HTTP/1.0\r\nContent-Length: 3\r\n\r\nabcd"),
    ])
    func everySplitOfAStreamGivesTheSameEvents(stream: [UInt8]) {
        func check(_ read: ReadStream, _ split: String) {
            #expect(read.events == whole.events, "\(split)")
            #expect(read.isOver == whole.isOver && read.heldBytes == whole.heldBytes, "\(split)")
        }
        let whole = ReadStream(stream)
        for cut in 1..<stream.count {
            check(ReadStream([stream[..<cut], stream[cut...]]), "cut at \(cut)")
            check(ReadStream(stream, inPiecesOf: cut), "pieces of \(cut)")
        }
        for first in stride(from: 1, to: stream.count, by: 7) {
            for second in stride(from: first, to: stream.count, by: 11) {
                check(ReadStream([stream[..<first], stream[first..<second], stream[second...]]), "cuts at \(first) and \(second)")
            }
        }
    }

    @Test(arguments: [Int.max, 1, 7])
    func theFirstFaultyRequestEndsTheStream(piece: Int) {
        let bad = Self.bytes("GET / HTTP/1.1\nHost: h\n\n")
        let read = ReadStream(Self.get + Self.post + bad + Self.get, inPiecesOf: piece)
        #expect(read.summary == ["GET /a", "end", "POST /b", "body \(Self.body)", "end", "fault lineEnd"])
        #expect(read.isOver && read.heldBytes == 0)
    }

    @Test(arguments: [Int.max, 1])
    func aBodyOfNoBytesEndsAtOnce(piece: Int) {
        let empty = Self.bytes("PUT /d HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n")
        #expect(ReadStream(empty, inPiecesOf: piece).summary == ["PUT /d", "end"])
        #expect(ReadStream(empty + Self.get, inPiecesOf: piece).summary == ["PUT /d", "end", "GET /a", "end"])
    }

    @Test func nothingIsParsedBehindAChunkedBody() {
        let head = Self.bytes("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n")
        let read = ReadStream(head + Self.get)
        #expect(read.summary == ["POST /"])
        #expect(read.rest == Self.get)
    }

    @Test(arguments: ["GET / HTTP/1.1\r\nHost: h\r\nConnection: x, Close\r\n\r\n", "GET / HTTP/1.0\r\n\r\n"])
    func nothingIsParsedBehindTheLastRequest(text: String) {
        let read = ReadStream(Self.bytes(text) + Self.get)
        #expect(read.summary == ["GET /", "end"])
        #expect(read.rest == Self.get)
    }

    @Test func nothingIsParsedBehindTheBodyOfTheLastRequest() {
        let last = Self.bytes("POST / HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: 2\r\n\r\nab")
        let read = ReadStream(last + Self.get)
        #expect(read.summary == ["POST /", "body ab", "end"])
        #expect(read.rest == Self.get)
    }

    @Test func anIncompleteHeadIsHeld() {
        let read = ReadStream(Array(Self.get.dropLast()), inPiecesOf: 1)
        #expect(read.events.isEmpty)
        #expect(read.heldBytes == Self.get.count - 1)
        #expect(ReadStream(Self.get).heldBytes == 0)
    }

    @Test func blankLinesBeforeARequestAreDropped() {
        let read = ReadStream([13, 10, 13, 10] + Self.get + [13, 10] + Self.get, inPiecesOf: 1)
        #expect(read.summary == ["GET /a", "end", "GET /a", "end"])
        #expect(ReadStream([13, 10, 13]).heldBytes == 0)
        #expect(ReadStream([13, 10, 13, 10, 13, 10] + Self.get).summary == ["fault requestLine"])
    }

    /// - Returns: a head of this length with this many fields besides Host.
    private static func long(_ length: Int, fields: Int) -> [UInt8] {
        let start = "GET / HTTP/1.1\r\nHost: h\r\n" + (1..<fields).map { "X-\($0): a\r\n" }.joined() + "X: "
        return bytes(start) + [UInt8](repeating: 97, count: length - start.utf8.count - 4) + bytes("\r\n\r\n")
    }

    @Test(arguments: [Int.max, 1, 4_096, 5_000], [1, 50, 99])
    func aHeadOf16KibibytesIsReadWholeAndALongerOneIsRefused(piece: Int, fields: Int) {
        let read = ReadStream([13, 10] + Self.long(16_384, fields: fields) + Self.get, inPiecesOf: piece)
        #expect(read.summary == ["GET /", "end", "GET /a", "end"])
        #expect(read.heads.first?.fields.count == fields + 1)
        let long = ReadStream(Self.long(16_385, fields: fields), inPiecesOf: piece)
        #expect(long.summary == ["head too long"])
        #expect(long.isOver && long.heldBytes == 0)
    }

    @Test func aHundredAndOneFieldsAreTooMany() {
        #expect(ReadStream(Self.long(4_000, fields: 100)).summary == ["fault tooManyFields"])
    }
}
