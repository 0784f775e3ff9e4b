import Testing

@testable import Sockets

struct ProxyHeaderTests {
    static let signature: [UInt8] = [0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A]

    private func header(_ family: UInt8, _ rest: [UInt8], command: UInt8 = 0x21, length: Int? = nil) -> [UInt8] {
        let length = length ?? rest.count
        return Self.signature + [command, family, UInt8(length >> 8), UInt8(length & 0xFF)] + rest
    }

    private var four: [UInt8] { [192, 0, 2, 1, 127, 0, 0, 1, 0x12, 0x34, 0x1E, 0xC8] }
    private var six: [UInt8] { [0x20, 0x01, 0x0D, 0xB8] + [UInt8](repeating: 0, count: 11) + [7] + [UInt8](repeating: 1, count: 20) }

    @Test func sourceIsReadFromBothFamilies() {
        #expect(ProxyHeader.parse(header(0x11, four)) == .complete(ProxyHeader(source: IPAddress("192.0.2.1"))))
        #expect(ProxyHeader.parse(header(0x21, six)) == .complete(ProxyHeader(source: IPAddress("2001:db8::7"))))
    }

    @Test func typeLengthValueFieldsAreSkipped() {
        #expect(ProxyHeader.parse(header(0x11, four + [0x04, 0, 3, 1, 2, 3])) == .complete(ProxyHeader(source: IPAddress("192.0.2.1"))))
    }

    @Test func proxySpeaksForItself() {
        let expected = ProxyHeader.Progress.complete(ProxyHeader(source: nil))
        #expect(ProxyHeader.parse(header(0x00, [], command: 0x20)) == expected)
        // A receiver must ignore the family and addresses of LOCAL.
        #expect(ProxyHeader.parse(header(0x11, four, command: 0x20)) == expected)
        #expect(ProxyHeader.parse(header(0x99, [1], command: 0x20)) == expected)
        #expect(ProxyHeader.parse(header(0x00, [])) == expected)
        #expect(ProxyHeader.parse(header(0x31, [UInt8](repeating: 0x61, count: 216))) == expected)
    }

    /// Exactly the bytes of the header are asked for, so that those of the connection stay in the socket.
    @Test func everyPrefixNeedsMore() {
        let whole = header(0x11, four + [0x04, 0, 1, 9])
        for count in whole.indices {
            #expect(ProxyHeader.parse(Array(whole.prefix(count))) == .needs(count < 16 ? 16 : whole.count))
        }
    }

    @Test func malformedHeadersAreRefused() {
        let refused = ProxyHeader.Progress.refused(.malformed)
        #expect(ProxyHeader.parse(header(0x11, four, command: 0x31)) == refused, "version 3")
        #expect(ProxyHeader.parse(header(0x11, four, command: 0x22)) == refused, "an unknown command")
        #expect(ProxyHeader.parse(header(0x12, four)) == refused, "UDP")
        #expect(ProxyHeader.parse(header(0x41, four)) == refused, "an unknown family")
        #expect(ProxyHeader.parse(header(0x11, Array(four.dropLast()))) == refused, "an incomplete address")
        #expect(ProxyHeader.parse(header(0x21, four)) == refused, "IPv4's length for IPv6")
        #expect(ProxyHeader.parse(header(0x11, [], length: 4_081)) == refused, "too long")
        #expect(ProxyHeader.parse(header(0x11, [], length: 4_080)) == .needs(4_096))
        #expect(ProxyHeader.parse(Array("GET / HTTP/1.1\r\n".utf8)) == refused)
        #expect(ProxyHeader.parse([0x16, 0x03]) == refused, "a TLS handshake")
        #expect(ProxyHeader.parse(Array(Self.signature.prefix(5)) + [1]) == refused)
    }

    @Test func versionOneIsRecognized() {
        #expect(ProxyHeader.parse(Array("PROXY TCP4 192.0".utf8)) == .refused(.version1))
        #expect(ProxyHeader.parse(Array("PROX".utf8)) == .needs(16))
        #expect(ProxyHeader.parse(Array("PROXIES".utf8)) == .refused(.malformed))
    }
}
