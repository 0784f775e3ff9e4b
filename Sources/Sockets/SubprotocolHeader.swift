internal import CLibwebsockets
internal import Glibc
internal import Wire

/// lws reads `Sec-WebSocket-Protocol` into 128 bytes and drops the connection if it is longer, which it always is where a browser
/// puts its token there (PROTOCOL section 2). So this function takes the place of the library's own of that name, for its callers
/// inside the library too (the dynamic linker prefers a program's symbols; see ELF's rules of interposition): it leaves the
/// tokens out of that one header, which have been read by then, and hands everything else on.
///
/// Where a distribution links lws so that its inner calls cannot be taken over (`-Bsymbolic-functions`), such connections are dropped
/// as before; the header and the query remain.
@_cdecl("lws_hdr_copy")
public func copyHeaderWithoutTokens(
    _ wsi: OpaquePointer?, _ destination: UnsafeMutablePointer<CChar>?, _ room: Int32, _ token: UInt32
) -> Int32 {
    guard token == WSI_TOKEN_PROTOCOL.rawValue, let wsi = unsafe wsi, let destination = unsafe destination, room > 0 else {
        return unsafe libraryCopy(wsi, destination, room, token)
    }
    let items = unsafe Header.subprotocol.items(of: wsi)
    let kept = Array(items.filter { !$0.hasPrefix(ProtocolLimits.bearerSubprotocolPrefix) }.joined(separator: ", ").utf8)
    guard kept.count < Int(room) else { return -1 }
    for (index, byte) in kept.enumerated() { unsafe destination[index] = CChar(bitPattern: byte) }
    unsafe destination[kept.count] = 0
    return Int32(kept.count)
}

private typealias HeaderCopy = @convention(c) (OpaquePointer?, UnsafeMutablePointer<CChar>?, Int32, UInt32) -> Int32

nonisolated(unsafe) private let libraryCopy: HeaderCopy = {
    guard let function = unsafe libraryFunction(named: "lws_hdr_copy") else {
        preconditionFailure("libwebsockets has no lws_hdr_copy; is it the library it says it is?")
    }
    return unsafe unsafeBitCast(function, to: HeaderCopy.self)
}()
