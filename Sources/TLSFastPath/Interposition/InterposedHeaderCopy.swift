internal import CLibwebsockets
internal import Wire

/// libwebsockets' `lws_hdr_copy`, defined anew for the whole program.
///
/// libwebsockets copies `Sec-WebSocket-Protocol` into 128 bytes at the upgrade and drops the connection if the header is longer, for
/// example with a browser's token (PROTOCOL, "Location of the token"). This function omits tokens, which have been read by then, from
/// this header. No public call can shorten or replace a parsed header before the upgrade.
@_cdecl("lws_hdr_copy")
public func interposedHeaderCopy(
    _ wsi: OpaquePointer?, _ destination: UnsafeMutablePointer<CChar>?, _ capacity: Int32, _ token: UInt32
) -> Int32 {
    guard token == WSI_TOKEN_PROTOCOL.rawValue, let wsi = unsafe wsi, let destination = unsafe destination, capacity > 0 else {
        return unsafe libraryCopy?(wsi, destination, capacity, token) ?? -1
    }
    let kept = unsafe SubprotocolHeader.itemsWithoutTokens(of: wsi)
    guard kept.count < Int(capacity) else { return -1 }
    for (index, byte) in kept.enumerated() { unsafe destination[index] = CChar(bitPattern: byte) }
    unsafe destination[kept.count] = 0
    return Int32(kept.count)
}

private enum SubprotocolHeader {
    /// The header's items without tokens, joined.
    static func itemsWithoutTokens(of wsi: OpaquePointer) -> [UInt8] {
        var kept: [[UInt8]] = []
        for fragment in 0..<Int32(16) {
            let length = Int(unsafe lws_hdr_fragment_length(wsi, WSI_TOKEN_PROTOCOL, fragment))
            guard length > 0 else { break }
            var bytes = [CChar](repeating: 0, count: length + 1)
            guard unsafe lws_hdr_copy_fragment(wsi, &bytes, Int32(bytes.count), WSI_TOKEN_PROTOCOL, fragment) >= 0 else { break }
            for item in bytes[..<length].map(UInt8.init(bitPattern:)).split(separator: UInt8(ascii: ",")) {
                let item = item.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
                if !item.starts(with: ProtocolLimits.bearerSubprotocolPrefix.utf8) { kept.append(Array(item)) }
            }
        }
        return Array(kept.joined(separator: Array(", ".utf8)))
    }
}

private typealias HeaderCopy = @convention(c) (OpaquePointer?, UnsafeMutablePointer<CChar>?, Int32, UInt32) -> Int32

private let libraryCopy: HeaderCopy? = unsafe DynamicSymbol.library("lws_hdr_copy").map {
    unsafe unsafeBitCast($0, to: HeaderCopy.self)
}
