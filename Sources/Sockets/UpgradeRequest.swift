internal import CLibwebsockets

/// What a client said when it asked for a WebSocket. Valid during `SocketOwner.admit` only.
@safe package struct UpgradeRequest {
    let wsi: OpaquePointer
    package let peerAddress: String
    package let isSecure: Bool

    package var path: String { unsafe Header.uri.text(of: wsi) ?? "" }
    package var authorization: String? { unsafe Header.authorization.text(of: wsi) }
    /// The items of `Sec-WebSocket-Protocol`, in the client's order.
    package var subprotocols: [String] {
        unsafe (Header.subprotocol.text(of: wsi) ?? "").split(separator: ",").map { item in
            String(item.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
        }
    }

    /// A value of the URL's query; nil if it is not there.
    package func query(_ name: String) -> String? {
        unsafe Query(of: wsi)[name]
    }
}

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
    static let transferEncoding = Header(token: WSI_TOKEN_HTTP_TRANSFER_ENCODING)

    /// The URI and the method that it stands under: lws files it by method.
    static let uriByMethod: [(method: String, header: Header)] = [
        ("GET", Header(token: WSI_TOKEN_GET_URI)), ("POST", Header(token: WSI_TOKEN_POST_URI)),
        ("PUT", Header(token: WSI_TOKEN_PUT_URI)), ("PATCH", Header(token: WSI_TOKEN_PATCH_URI)),
        ("DELETE", Header(token: WSI_TOKEN_DELETE_URI)), ("OPTIONS", Header(token: WSI_TOKEN_OPTIONS_URI)),
        ("HEAD", Header(token: WSI_TOKEN_HEAD_URI)),
    ]

    /// The value; nil if the header is not there. Read in the pieces that lws keeps, one for each time that the header was sent.
    func text(of wsi: OpaquePointer) -> String? {
        guard unsafe lws_hdr_total_length(wsi, token) > 0 else { return nil }
        var text = ""
        for piece in 0..<Int32(16) {
            let length = Int(unsafe lws_hdr_fragment_length(wsi, token, piece))
            guard length > 0 else { break }
            var buffer = [CChar](repeating: 0, count: length + 1)
            guard unsafe lws_hdr_copy_fragment(wsi, &buffer, Int32(buffer.count), token, piece) >= 0 else { break }
            if piece > 0 { text += "," }
            text += String(decoding: buffer[..<length].map(UInt8.init(bitPattern:)), as: UTF8.self)
        }
        return text
    }
}

/// The query of a URL: lws keeps it as fragments, one for each `name=value`, already percent-decoded.
struct Query {
    private var items: [(name: Substring, value: Substring)] = []

    init(of wsi: OpaquePointer) {
        var index: Int32 = 0
        while true {
            let length = unsafe Int(lws_hdr_fragment_length(wsi, WSI_TOKEN_HTTP_URI_ARGS, index))
            guard length > 0 else { return }
            var buffer = [CChar](repeating: 0, count: length + 1)
            guard unsafe lws_hdr_copy_fragment(wsi, &buffer, Int32(buffer.count), WSI_TOKEN_HTTP_URI_ARGS, index) >= 0 else { return }
            let item = String(decoding: buffer[..<length].map(UInt8.init(bitPattern:)), as: UTF8.self)
            let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            items.append((parts[0], parts.count > 1 ? parts[1] : ""))
            index += 1
        }
    }

    subscript(name: String) -> String? {
        items.first { $0.name == name }.map { String($0.value) }
    }
}
