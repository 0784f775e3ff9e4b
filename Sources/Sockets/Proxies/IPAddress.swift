internal import CLibwebsockets
internal import Glibc

/// An IPv4 or IPv6 address, without a port or zone.
///
/// An IPv4-mapped IPv6 address (RFC 4291 section 2.5.5.2) is the IPv4 address that it contains, so that a client has the same address on a
/// dual-stack socket and in a proxy's header.
package struct IPAddress: Sendable, Hashable, CustomStringConvertible {
    /// An IPv4 address is in the lowest 32 bits.
    let bits: UInt128
    package let isIPv6: Bool

    /// - Parameter text: dotted decimal without leading zeros, or RFC 4291 section 2.2 without brackets.
    package init?(_ text: some StringProtocol) {
        let text = String(text)
        var bytes = [UInt8](repeating: 0, count: 16)
        guard !text.utf8.contains(0) else { return nil }
        if unsafe inet_pton(AF_INET, text, &bytes) == 1 {
            self.init(bytes: bytes.prefix(4))
        } else if unsafe inet_pton(AF_INET6, text, &bytes) == 1 {
            self.init(bytes: bytes)
        } else {
            return nil
        }
    }

    /// - Parameter bytes: 4 or 16 bytes, most significant first.
    init?(bytes: some Collection<UInt8>) {
        let bits = bytes.reduce(UInt128(0)) { $0 << 8 | UInt128($1) }
        switch bytes.count {
        case 4: (self.bits, isIPv6) = (bits, false)
        case 16 where bits >> 32 == 0xFFFF: (self.bits, isIPv6) = (bits & 0xFFFF_FFFF, false)
        case 16: (self.bits, isIPv6) = (bits, true)
        default: return nil
        }
    }

    private init(bits: UInt128, isIPv6: Bool) {
        self.bits = bits
        self.isIPv6 = isIPv6
    }

    /// The text by which limits and logs identify a client: an IPv4 address, or the network (/64) of an IPv6 address, which one customer
    /// typically has.
    package var forLimits: String {
        isIPv6 ? "\(keepingPrefix(64))" : description
    }

    /// RFC 5952.
    package var description: String {
        let width = isIPv6 ? 128 : 32
        let bytes = stride(from: width - 8, through: 0, by: -8).map { UInt8(truncatingIfNeeded: bits >> $0) }
        guard isIPv6 else { return bytes.map(String.init).joined(separator: ".") }
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard unsafe inet_ntop(AF_INET6, bytes, &text, socklen_t(text.count)) != nil else { return "::" }
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// - Parameter count: at most 128, or 32 for IPv4.
    func keepingPrefix(_ count: Int) -> IPAddress {
        let hostBits = (isIPv6 ? 128 : 32) - count
        return IPAddress(bits: (bits >> hostBits) << hostBits, isIPv6: isIPv6)
    }
}

/// A network in CIDR notation (RFC 4632): `10.0.0.0/8`, `2001:db8::/32`, or a single address.
package struct IPNetwork: Sendable, Hashable, CustomStringConvertible {
    let address: IPAddress
    let prefixBits: Int

    /// - Throws: `IPNetworkError`, with the remedy.
    package init(_ text: String) throws(IPNetworkError) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = IPAddress(parts[0]) else {
            throw IPNetworkError("\"\(text)\" is no address or network; write it as 10.0.0.7, 10.0.0.0/8 or 2001:db8::/32")
        }
        let width = address.isIPv6 ? 128 : 32
        guard parts.count == 1 || parts[1].utf8.allSatisfy({ 48...57 ~= $0 }), let bits = parts.count == 1 ? width : Int(parts[1]),
            0...width ~= bits
        else { throw IPNetworkError("\"\(text)\": the number after the slash must be between 0 and \(width)") }
        let network = address.keepingPrefix(bits)
        guard network == address else {
            throw IPNetworkError(
                "\"\(text)\" has bits set behind the first \(bits); write \(network)/\(bits), or \(address) for one address")
        }
        self.address = address
        prefixBits = bits
    }

    package func contains(_ other: IPAddress) -> Bool {
        other.isIPv6 == address.isIPv6 && other.keepingPrefix(prefixBits) == address
    }

    /// All addresses of a family.
    package var isEverything: Bool { prefixBits == 0 }

    package var description: String { "\(address)/\(prefixBits)" }
}

package struct IPNetworkError: Error, Hashable, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}

/// The address and port of one end of a socket.
struct SocketAddress {
    let address: IPAddress
    let port: Int

    /// - Parameter query: `getsockname` or `getpeername`.
    /// - Returns: nil if the socket is closed, or of another family.
    init?(of descriptor: Int32, by query: (Int32, UnsafeMutablePointer<sockaddr>?, UnsafeMutablePointer<socklen_t>?) -> Int32) {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let isKnown = unsafe withUnsafeMutablePointer(to: &storage) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe query(descriptor, $0, &length) == 0 }
        }
        let range: Range<Int>
        switch Int32(storage.ss_family) {
        case AF_INET where isKnown: range = 4..<8
        case AF_INET6 where isKnown: range = 8..<24
        default: return nil
        }
        let (bytes, port) = unsafe withUnsafeBytes(of: storage) {
            // `sin_port` and `sin6_port`.
            unsafe (Array($0[range]), UInt16(bigEndian: $0.load(fromByteOffset: 2, as: UInt16.self)))
        }
        guard let address = IPAddress(bytes: bytes) else { return nil }
        (self.address, self.port) = (address, Int(port))
    }
}

/// Resolves a host name or numeric address (getaddrinfo(3)), and passes on the first result; nil if there is none.
func withResolved<Result>(_ host: String, port: Int? = nil, flags: Int32 = 0, _ body: (addrinfo?) -> Result) -> Result {
    var hints = unsafe addrinfo()
    unsafe hints.ai_flags = flags
    unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var found: UnsafeMutablePointer<addrinfo>?
    guard unsafe getaddrinfo(host, port.map { String($0) }, &hints, &found) == 0, let first = unsafe found else { return body(nil) }
    defer { unsafe freeaddrinfo(first) }
    return unsafe body(first.pointee)
}
