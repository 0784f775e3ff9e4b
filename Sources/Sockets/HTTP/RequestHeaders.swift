internal import CLibwebsockets
internal import HTTPTypes

/// A header of a request or response that libwebsockets has parsed.
struct RequestHeader {
    private let token: lws_token_indexes

    static let uri = RequestHeader(token: WSI_TOKEN_GET_URI)
    static let authorization = RequestHeader(token: WSI_TOKEN_HTTP_AUTHORIZATION)
    static let subprotocol = RequestHeader(token: WSI_TOKEN_PROTOCOL)
    static let host = RequestHeader(token: WSI_TOKEN_HOST)
    static let forwardedFor = RequestHeader(token: WSI_TOKEN_X_FORWARDED_FOR)
    static let origin = RequestHeader(token: WSI_TOKEN_ORIGIN)
    static let contentLength = RequestHeader(token: WSI_TOKEN_HTTP_CONTENT_LENGTH)
    static let contentType = RequestHeader(token: WSI_TOKEN_HTTP_CONTENT_TYPE)
    static let upgrade = RequestHeader(token: WSI_TOKEN_UPGRADE)
    /// The version of the request line, such as `HTTP/1.1`.
    static let version = RequestHeader(token: WSI_TOKEN_HTTP)
    static let connection = RequestHeader(token: WSI_TOKEN_CONNECTION)
    static let transferEncoding = RequestHeader(token: WSI_TOKEN_HTTP_TRANSFER_ENCODING)

    /// The URI by method: libwebsockets stores it under a token of its own for each.
    static let uriByMethod: [(method: String, header: RequestHeader)] = [
        ("GET", RequestHeader(token: WSI_TOKEN_GET_URI)), ("POST", RequestHeader(token: WSI_TOKEN_POST_URI)),
        ("PUT", RequestHeader(token: WSI_TOKEN_PUT_URI)), ("PATCH", RequestHeader(token: WSI_TOKEN_PATCH_URI)),
        ("DELETE", RequestHeader(token: WSI_TOKEN_DELETE_URI)), ("OPTIONS", RequestHeader(token: WSI_TOKEN_OPTIONS_URI)),
        ("HEAD", RequestHeader(token: WSI_TOKEN_HEAD_URI)),
    ]

    /// The headers that HTTP routes see. No cookies: nothing here is authenticated by one.
    static let ofRequests: [(HTTPField.Name, RequestHeader)] = [
        (.authorization, authorization), (.contentType, contentType), (.origin, origin),
        (.accept, RequestHeader(token: WSI_TOKEN_HTTP_ACCEPT)), (.acceptEncoding, RequestHeader(token: WSI_TOKEN_HTTP_ACCEPT_ENCODING)),
        (.ifNoneMatch, RequestHeader(token: WSI_TOKEN_HTTP_IF_NONE_MATCH)), (.range, RequestHeader(token: WSI_TOKEN_HTTP_RANGE)),
        (.secWebSocketProtocol, subprotocol),
    ]

    /// Further ones that libwebsockets has no token for.
    static let customOfRequests: [HTTPField.Name] = [.idempotencyKey, .requestID, .accessControlRequestMethod, .secFetchSite]

    /// Whether libwebsockets took an encoded line end in the path or query for the end of the request line.
    static func isPathCutOff(in wsi: OpaquePointer) -> Bool {
        unsafe version.text(of: wsi)?.hasPrefix("HTTP/1.") != true
    }

    /// The value; nil if the header is missing. Repeated headers are joined by commas.
    func text(of wsi: OpaquePointer) -> String? {
        guard unsafe lws_hdr_total_length(wsi, token) > 0 else { return nil }
        var text = ""
        for piece in 0..<Int32(16) {
            let length = Int(unsafe lws_hdr_fragment_length(wsi, token, piece))
            guard length > 0 else { break }
            if piece > 0 { text += "," }
            // libwebsockets appends a zero.
            text += unsafe String(unsafeUninitializedCapacity: length + 1) { buffer in
                let copied = unsafe buffer.withMemoryRebound(to: CChar.self) { bytes in
                    unsafe lws_hdr_copy_fragment(wsi, bytes.baseAddress, Int32(length + 1), token, piece)
                }
                return copied < 0 ? 0 : length
            }
        }
        return text
    }

    /// The values of all headers of this name, joined by commas, however many there are; nil if there is none.
    func joinedText(of wsi: OpaquePointer) -> String? {
        let length = unsafe Int(lws_hdr_total_length(wsi, token))
        guard length > 0 else { return nil }
        var buffer = [CChar](repeating: 0, count: length + 2)
        guard unsafe lws_hdr_copy(wsi, &buffer, Int32(buffer.count), token) >= 0 else { return nil }
        return String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// The items of a list (RFC 9110 section 5.6.1) without surrounding blanks.
    func items(of wsi: OpaquePointer) -> [Substring] { unsafe HeaderList.items(of: text(of: wsi) ?? "") }

    /// The value of a header that libwebsockets has no token for; nil if it is missing. Only the first of several is found.
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

/// Header fields whose value is a list (RFC 9110 section 5.6.1).
package enum HeaderList {
    /// The items without surrounding blanks.
    package static func items(of text: String) -> [Substring] {
        // By bytes, because tokens are long and searching characters is slow.
        text.utf8.split(separator: UInt8(ascii: ",")).map { item in
            var item = item
            while let first = item.first, first == UInt8(ascii: " ") || first == UInt8(ascii: "\t") { item.removeFirst() }
            while let last = item.last, last == UInt8(ascii: " ") || last == UInt8(ascii: "\t") { item.removeLast() }
            return Substring(item)
        }
    }
}

/// The query of a URL, percent-decoded. Of several values of a name the first counts.
package struct Query: Sendable {
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

    package subscript(name: String) -> String? {
        items.first { $0.name == name }.map { String($0.value) }
    }
}

/// A request to upgrade to WebSocket. Valid during `SocketDelegate.admit` only.
@safe package struct UpgradeRequest {
    let wsi: OpaquePointer
    package let source: RequestSource
    /// The request arrived over TLS, or at a listener that has none.
    package let isSecure: Bool

    package let path: String
    /// `path` and query are incomplete because they had an encoded line end in them.
    package let isPathCutOff: Bool
    /// The items of `Sec-WebSocket-Protocol`, in the client's order.
    package let subprotocols: [Substring]

    init(wsi: OpaquePointer, source: RequestSource) {
        unsafe self.wsi = unsafe wsi
        self.source = source
        isSecure = unsafe source.entrance != .clients || lws_is_ssl(wsi) != 0
        path = unsafe RequestHeader.uri.text(of: wsi) ?? ""
        isPathCutOff = unsafe RequestHeader.isPathCutOff(in: wsi)
        subprotocols = unsafe RequestHeader.subprotocol.items(of: wsi)
    }

    /// The `Host` header: the server's name and port as the client knows them.
    package var host: String? { unsafe RequestHeader.host.text(of: wsi) }
    /// The client's address, as limits and logs see it.
    package var peerAddress: String { source.address }
    /// The origin of the web page that connects; nil for clients other than browsers.
    package var origin: String? { unsafe RequestHeader.origin.text(of: wsi) }
    package var authorization: String? { unsafe RequestHeader.authorization.text(of: wsi) }
    package var requestID: String? { unsafe RequestHeader.custom(HTTPField.Name.requestID.canonicalName, of: wsi) }

    /// A value of the URL's query; nil if it is missing.
    package func query(_ name: String) -> String? {
        unsafe Query(of: wsi)[name]
    }
}
