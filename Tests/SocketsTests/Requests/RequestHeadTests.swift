import Sockets
import Testing

/// A request head as text, with `\n` for CR LF.
private func head(_ text: String) throws -> RequestHead { try RequestHead(Array(text.replacing("\n", with: "\r\n").utf8)) }

struct RequestHeadTests {
    @Test(
        arguments: [
            ("GET / HTTP/1.1\nHost: h\n\n", .none), ("GET /a%20b?c=%C3%A4&d HTTP/1.1\nhost: [::1]:7880\n\n", .none),
            ("\n\nGET / HTTP/1.1\nHost: h\n\n", .none), ("HEAD / HTTP/1.0\n\n", .none),
            ("POST / HTTP/1.1\nHost:h\nContent-Length:16\n\n", .length(16)),
            ("PUT / HTTP/1.1\nHost: h\nContent-Length: \t016 \n\n", .length(16)),
            ("PATCH / HTTP/1.1\nHost: h\nContent-Length: 0\n\n", .length(0)),
            ("POST / HTTP/1.1\nHost: h\nContent-Length: 9223372036854775807\n\n", .length(.max)),
            ("POST / HTTP/1.1\nHost: h\nContent-Length: 0000000000000000016\n\n", .length(16)),
            ("POST / HTTP/1.1\nHost: h\nTransfer-Encoding:\t ChunKed \n\n", .chunked),
            ("POST / HTTP/1.1\nHost: h\nTransfer-Encoding: chunked\n\n", .chunked),
            ("DELETE / HTTP/1.1\nHost: h\nX: a\tb \u{E9}\nY:\n\n", .none),
        ] as [(String, RequestHead.Body)])
    func validHeadsTellTheirBody(text: String, body: RequestHead.Body) throws {
        #expect(try head(text).body == body)
    }

    @Test(arguments: ["", "GET / HTTP/1.1", "GET / HTTP/1.1\nHost: h\n", "GET / HTTP/1.1\nHost: h\n\nG", "GET / HTTP/1.1\nHost: h\n\n\n"])
    func aHeadEndsWithItsBlankLine(text: String) {
        #expect(throws: RequestFault.requestLine) { try head(text) }
    }

    @Test(
        arguments: [
            ("GET /\n\n", .requestLine), ("GET  / HTTP/1.1\n\n", .requestLine), (" GET / HTTP/1.1\n\n", .requestLine),
            ("GET / HTTP/1.1 \n\n", .requestLine), ("GET\t/\tHTTP/1.1\n\n", .requestLine), ("G@T / HTTP/1.1\n\n", .requestLine),
            (" / HTTP/1.1\n\n", .requestLine),
            ("\n\n", .requestLine), ("\n\n\nGET / HTTP/1.1\nHost: h\n\n", .requestLine),
            ("get / HTTP/1.1\n\n", .method), ("Get / HTTP/1.1\n\n", .method), ("BREW / HTTP/1.1\n\n", .unknownMethod),
            ("M2 / HTTP/1.1\n\n", .unknownMethod),
            ("TRACE / HTTP/1.1\n\n", .unknownMethod), ("CONNECT h:1 HTTP/1.1\n\n", .unknownMethod), ("GET / HTTP/1.2\n\n", .version),
            ("GET / HTTP/2.0\n\n", .version), ("GET / http/1.1\n\n", .version), ("GET / HTTP/1.1x\n\n", .version),
            ("GET / HTTP/1.0x\n\n", .version),
            ("GET / HTTP/01.1\n\n", .version),
            ("GET x HTTP/1.1\n\n", .target), ("GET http://h/ HTTP/1.1\n\n", .target), ("OPTIONS * HTTP/1.1\n\n", .target),
            ("GET  HTTP/1.1\n\n", .target), ("GET /a\tb HTTP/1.1\n\n", .target),
            ("GET /#a HTTP/1.1\n\n", .target), ("GET /\u{E9} HTTP/1.1\n\n", .target), ("GET /%00 HTTP/1.1\n\n", .encoding),
            ("GET /?a=%0a HTTP/1.1\n\n", .encoding), ("GET /%0D HTTP/1.1\n\n", .encoding), ("GET /% HTTP/1.1\n\n", .encoding),
            ("GET /%2 HTTP/1.1\n\n", .encoding), ("GET /%+1 HTTP/1.1\n\n", .encoding), ("GET /a%zz HTTP/1.1\n\n", .encoding),
            ("GET /?%zz HTTP/1.1\n\n", .encoding), ("GET /?a=% HTTP/1.1\n\n", .encoding), ("GET /?%0d=a HTTP/1.1\n\n", .encoding),
            // Not UTF-8: a Latin-1 character, an overlong slash, half of a surrogate pair, a character cut off by `&`.
            ("GET /%e4 HTTP/1.1\n\n", .encoding), ("GET /%C0%AF HTTP/1.1\n\n", .encoding), ("GET /%ED%A0%80 HTTP/1.1\n\n", .encoding),
            ("GET /?a=%E4 HTTP/1.1\n\n", .encoding), ("GET /?a=%C3&b=%A4 HTTP/1.1\n\n", .encoding),
            ("GET /. HTTP/1.1\n\n", .dotSegment), ("GET /.. HTTP/1.1\n\n", .dotSegment), ("GET /./ HTTP/1.1\n\n", .dotSegment),
            ("GET /a/../b HTTP/1.1\n\n", .dotSegment), ("GET /a/..?b HTTP/1.1\n\n", .dotSegment),
            ("GET /%2e HTTP/1.1\n\n", .dotSegment), ("GET /a/.%2E/b HTTP/1.1\n\n", .dotSegment), ("GET /%2e%2e HTTP/1.1\n\n", .dotSegment),
            ("GET /a%2F..%2Fb HTTP/1.1\n\n", .dotSegment), ("GET //.. HTTP/1.1\n\n", .dotSegment),
        ] as [(String, RequestFault)])
    func faultyRequestLinesAreRefused(text: String, fault: RequestFault) {
        #expect(throws: fault) { try head(text) }
    }

    @Test(
        arguments: [
            ("Host h\n", .field), ("H(st: h\n", .field), ("Host\t: h\n", .field), ("Content-Length : 1\n", .field),
            ("Host : h\n", .field), (": h\n", .field), ("Ho st: h\n", .field), ("X@: h\n", .field), ("Host: h\n X: y\n", .folding),
            ("Host: h\n\tX: y\n", .folding), (" Host: h\n", .folding), ("", .host), ("Host:\n", .host), ("Host: a\nHost: a\n", .host),
            ("Host: a b\n", .host),
            ("Host: a,b\n", .host), ("Host: a/b\n", .host), ("Host: a@b\n", .host), ("Host: h\nContent-Length: +16\n", .length),
            ("Host: h\nContent-Length: -1\n", .length), ("Host: h\nContent-Length: 0x10\n", .length),
            ("Host: h\nContent-Length: 1 6\n", .length),
            ("Host: h\nContent-Length: 16, 16\n", .length), ("Host: h\nContent-Length: 16, 17\n", .length),
            ("Host: h\nContent-Length: 16\nContent-Length: 16\n", .length), ("Host: h\ncontent-length: 16\nCONTENT-LENGTH: 17\n", .length),
            ("Host: h\nContent-Length:\n", .length), ("Host: h\nContent-Length: many\n", .length),
            ("Host: h\nContent-Length: 1.0\n", .length),
            ("Host: h\nContent-Length: ١\n", .length), ("Host: h\nContent-Length: 9223372036854775808\n", .length),
            ("Host: h\nContent-Length: 00000000000000000016\n", .length), ("Host: h\nContent-Length: 16;\n", .length),
            ("Host: h\nContent-Length: 1e1\n", .length), ("Host: h\nContent-Length: 1_0\n", .length),
            ("Host: h\nContent-Length: 3\nTransfer-Encoding: chunked\n", .transferEncoding),
            ("Host: h\nTransfer-Encoding: chunked\nContent-Length: 3\n", .transferEncoding), ("Host: h\nUpgrade: h2c\n", .otherUpgrade),
            ("Host: h\nUpgrade: websocket, h2c\n", .otherUpgrade), ("Host: h\nX: a\u{0}\n", .lineEnd), ("Host: h\nX: a\u{7F}\n", .lineEnd),
            ("Host: h\nX: a\u{1B}b\n", .lineEnd), ("Host: h\nContent-Length: 16\u{0}\n", .lineEnd),
        ] as [(String, RequestFault)])
    func faultyFieldsAreRefused(fields: String, fault: RequestFault) {
        #expect(throws: fault) { try head("POST / HTTP/1.1\n\(fields)\n") }
    }

    /// A proxy that knows another coding, or ignores one that it does not know, would end the body elsewhere.
    @Test(arguments: [
        "", "gzip", "identity", "gzip, chunked", "chunked, gzip", "chunked, chunked", ", chunked", "chunked,", "chunked;a=b", "xchunked",
        "chunkedx", "chunke", "chun ked", "\"chunked\"", "chunked \u{E9}",
    ])
    func theOnlyTransferCodingIsChunked(coding: String) {
        #expect(throws: RequestFault.transferEncoding) { try head("POST / HTTP/1.1\nHost: h\nTransfer-Encoding: \(coding)\n\n") }
    }

    @Test func chunksNeedVersion11() {
        #expect(throws: RequestFault.transferEncoding) { try head("POST / HTTP/1.0\nTransfer-Encoding: chunked\n\n") }
    }

    @Test(arguments: [
        "GET / HTTP/1.1\nHost: h\r\n\r\n", "GET / HTTP/1.1\r\nHost: h\n\n", "GET / HTTP/1.1\r\nHost: h\r\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: h\r\n\n",
        "GET / HTTP/1.1\r\nHost: h\r\n\rX: a\r\n\r\n", "GET / HTTP/1.1\r\nHost: h\r\n\r\r\n",
        "GET / HTTP/1.1\r\nX: a\rHost: h\r\n\r\n", "\nGET / HTTP/1.1\r\nHost: h\r\n\r\n", "\rGET / HTTP/1.1\r\nHost: h\r\n\r\n",
        "GET /\r HTTP/1.1\r\nHost: h\r\n\r\n", "GET /\u{0} HTTP/1.1\r\nHost: h\r\n\r\n",
    ])
    func bareLineEndsAreRefused(text: String) {
        #expect(throws: RequestFault.lineEnd) { try RequestHead(Array(text.utf8)) }
    }

    @Test func noControlCharacterButATabIsAllowedAnywhere() throws {
        for control in Array(0x00...0x1F) + [0x7F] as [UInt8] where ![0x09, 0x0A, 0x0D].contains(control) {
            let character = String(decoding: [control], as: UTF8.self)
            for text in [
                "\(character)GET / HTTP/1.1\nHost: h\n\n", "GET /\(character) HTTP/1.1\nHost: h\n\n",
                "GET / HTTP/1.1\n\(character)X: a\nHost: h\n\n", "GET / HTTP/1.1\nX\(character): a\nHost: h\n\n",
                "GET / HTTP/1.1\nX: a\(character)b\nHost: h\n\n", "GET / HTTP/1.1\nHost: h\(character)\n\n",
            ] {
                #expect(throws: RequestFault.lineEnd, "\(control)") { try head(text) }
            }
        }
    }

    /// Names, addresses and ports (RFC 3986 section 3.2.2).
    @Test func aHostHasOnlyCharactersOfNamesAndAddresses() throws {
        let allowed = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~:[]%".utf8)
        for byte in 0x20...0xFF as ClosedRange<UInt8> where byte != 0x7F {
            let text = Array("GET / HTTP/1.1\r\nHost: a".utf8) + [byte] + Array("b\r\n\r\n".utf8)
            if allowed.contains(byte) {
                #expect(try RequestHead(text).host?.utf8.elementsEqual([0x61, byte, 0x62]) == true)
            } else {
                #expect(throws: RequestFault.host, "\(byte)") { try RequestHead(text) }
            }
        }
    }

    // MARK: Upgrades

    private static let handshake = [
        ("Host", "h"), ("Connection", "keep-alive, Upgrade"), ("Upgrade", "WebSocket"), ("Sec-WebSocket-Version", "13"),
        ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
    ]

    /// - Parameter value: replaces that of the field; nil leaves it out.
    private static func upgrade(_ line: String = "GET / HTTP/1.1", _ name: String = "", _ value: String? = nil, more: String = "") -> String
    {
        let fields = handshake.map { ($0.0, $0.0 == name ? value : $0.1) }
        return line + "\n" + fields.compactMap { field, value in value.map { "\(field): \($0)\n" } }.joined() + more + "\n"
    }

    @Test func anUpgradeWithAllFieldsPasses() throws {
        #expect(try head(Self.upgrade()).upgrades)
        #expect(try head(Self.upgrade(more: "Content-Length: 0\n")).upgrades)
        #expect(try head(Self.upgrade("GET / HTTP/1.1", "Connection", "Upgrade, keep-alive")).upgrades)
        #expect(try head(Self.upgrade(more: "Connection: keep-alive\n")).upgrades)
        #expect(try !head("GET / HTTP/1.1\nHost: h\nConnection: Upgrade\n\n").upgrades)
    }

    @Test func aKeyHasOnlyCharactersOfBase64() throws {
        let allowed = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/".utf8)
        for byte in 0x20...0x7E as ClosedRange<UInt8> {
            let text = Self.upgrade("GET / HTTP/1.1", "Sec-WebSocket-Key", "dGhlIHNhbXB\(Unicode.Scalar(byte))ZSBub25jZQ==")
            if allowed.contains(byte) {
                #expect(try head(text).upgrades)
            } else {
                #expect(throws: RequestFault.handshake, "\(byte)") { try head(text) }
            }
        }
    }

    @Test(
        arguments: [
            (upgrade("GET / HTTP/1.1", "Host", nil), .host), (upgrade("GET / HTTP/1.1", "Connection", nil), .handshake),
            (upgrade("GET / HTTP/1.1", "Connection", "upgraded"), .handshake),
            (upgrade("GET / HTTP/1.1", "Sec-WebSocket-Key", nil), .handshake),
            (upgrade("GET / HTTP/1.1", "Sec-WebSocket-Key", ""), .handshake),
            (upgrade("GET / HTTP/1.1", "Sec-WebSocket-Key", "AAAA"), .handshake),
            (upgrade("GET / HTTP/1.1", "Sec-WebSocket-Key", "AA=="), .handshake),
            (upgrade("GET / HTTP/1.1", "Sec-WebSocket-Key", "AAdGhlIHNhbXBsZSBub25jZQ=="), .handshake),
            (upgrade("GET / HTTP/1.1", "Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZTE="), .handshake),
            (upgrade("GET / HTTP/1.1", "Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25j!Q=="), .handshake),
            (upgrade(more: "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\n"), .handshake), (upgrade("POST / HTTP/1.1"), .handshake),
            (upgrade("GET / HTTP/1.0"), .handshake), (upgrade(more: "Content-Length: 5\n"), .handshake),
            (upgrade(more: "Transfer-Encoding: chunked\n"), .handshake),
            (upgrade("GET / HTTP/1.1", "Sec-WebSocket-Version", nil), .webSocketVersion),
            (upgrade("GET / HTTP/1.1", "Sec-WebSocket-Version", "8"), .webSocketVersion),
            (upgrade("GET / HTTP/1.1", "Sec-WebSocket-Version", "13, 8"), .webSocketVersion),
            (upgrade(more: "Upgrade: websocket\n"), .otherUpgrade),
        ] as [(String, RequestFault)])
    func incompleteUpgradesAreRefused(text: String, fault: RequestFault) {
        #expect(throws: fault) { try head(text) }
    }
}
