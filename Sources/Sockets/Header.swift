internal import CLibwebsockets
internal import HTTPTypes

/// Reads headers that lws has parsed.
struct Header {
    private let token: lws_token_indexes

    static let uri = Header(token: WSI_TOKEN_GET_URI)
    static let authorization = Header(token: WSI_TOKEN_HTTP_AUTHORIZATION)
    static let subprotocol = Header(token: WSI_TOKEN_PROTOCOL)
    static let host = Header(token: WSI_TOKEN_HOST)
    static let origin = Header(token: WSI_TOKEN_ORIGIN)
    static let contentLength = Header(token: WSI_TOKEN_HTTP_CONTENT_LENGTH)
    static let contentType = Header(token: WSI_TOKEN_HTTP_CONTENT_TYPE)
    static let upgrade = Header(token: WSI_TOKEN_UPGRADE)
    /// `HTTP/1.1` of the request line.
    static let version = Header(token: WSI_TOKEN_HTTP)
    static let connection = Header(token: WSI_TOKEN_CONNECTION)
    static let transferEncoding = Header(token: WSI_TOKEN_HTTP_TRANSFER_ENCODING)

    /// The URI and the method that it stands under: lws files it by method.
    static let uriByMethod: [(method: String, header: Header)] = [
        ("GET", Header(token: WSI_TOKEN_GET_URI)), ("POST", Header(token: WSI_TOKEN_POST_URI)),
        ("PUT", Header(token: WSI_TOKEN_PUT_URI)), ("PATCH", Header(token: WSI_TOKEN_PATCH_URI)),
        ("DELETE", Header(token: WSI_TOKEN_DELETE_URI)), ("OPTIONS", Header(token: WSI_TOKEN_OPTIONS_URI)),
        ("HEAD", Header(token: WSI_TOKEN_HEAD_URI)),
    ]

    /// Those that an HTTP route gets to see. No cookies: nobody is known by one here.
    static let ofRequests: [(HTTPField.Name, Header)] = [
        (.authorization, authorization), (.contentType, contentType), (.origin, origin),
        (.accept, Header(token: WSI_TOKEN_HTTP_ACCEPT)), (.acceptEncoding, Header(token: WSI_TOKEN_HTTP_ACCEPT_ENCODING)),
        (.ifNoneMatch, Header(token: WSI_TOKEN_HTTP_IF_NONE_MATCH)), (.range, Header(token: WSI_TOKEN_HTTP_RANGE)),
    ]

    /// And those of them that lws has no number for.
    static let customOfRequests: [HTTPField.Name] = [.idempotencyKey, .requestID, .accessControlRequestMethod]

    /// Whether lws took an encoded line end in the path or query for the end of the request line.
    static func isPathCutOff(in wsi: OpaquePointer) -> Bool {
        unsafe version.text(of: wsi)?.hasPrefix("HTTP/1.") != true
    }

    /// The value; nil if the header is not there. Read in the pieces that lws keeps, one for each time that the header was sent.
    func text(of wsi: OpaquePointer) -> String? {
        guard unsafe lws_hdr_total_length(wsi, token) > 0 else { return nil }
        var text = ""
        for piece in 0..<Int32(16) {
            let length = Int(unsafe lws_hdr_fragment_length(wsi, token, piece))
            guard length > 0 else { break }
            if piece > 0 { text += "," }
            // lws ends it with a zero.
            text += unsafe String(unsafeUninitializedCapacity: length + 1) { buffer in
                let copied = unsafe buffer.withMemoryRebound(to: CChar.self) { bytes in
                    unsafe lws_hdr_copy_fragment(wsi, bytes.baseAddress, Int32(length + 1), token, piece)
                }
                return copied < 0 ? 0 : length
            }
        }
        return text
    }

    /// The items of a list (RFC 9110 section 5.6.1), in their order, without the blanks around them.
    func items(of wsi: OpaquePointer) -> [Substring] {
        let text = unsafe text(of: wsi) ?? ""
        // Byte by byte: a token is long, and Swift's characters are slow to find.
        return text.utf8.split(separator: UInt8(ascii: ",")).map { item in
            var item = item
            while let first = item.first, first == UInt8(ascii: " ") || first == UInt8(ascii: "\t") { item.removeFirst() }
            while let last = item.last, last == UInt8(ascii: " ") || last == UInt8(ascii: "\t") { item.removeLast() }
            return Substring(item)
        }
    }

    /// The value of a header that lws has no number for; nil if it is not there. Of several only the first is found.
    static func custom(_ name: String, of wsi: OpaquePointer) -> String? {
        let name = name + ":"
        let nameLength = Int32(name.utf8.count)
        let length = unsafe Int(lws_hdr_custom_length(wsi, name, nameLength))
        guard length > 0 else { return nil }
        var buffer = [CChar](repeating: 0, count: length + 1)
        guard unsafe lws_hdr_custom_copy(wsi, &buffer, Int32(buffer.count), name, nameLength) >= 0 else { return nil }
        return String(decoding: buffer[..<length].map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
