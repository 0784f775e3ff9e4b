internal import CLibwebsockets
internal import CZlib
package import HTTPTypes
internal import Wire

/// An HTTP response with a complete body.
package struct HTTPServerResponse: Sendable {
    package var status: HTTPResponse.Status
    package var fields: HTTPFields
    package var body: [UInt8]

    package init(status: HTTPResponse.Status, fields: HTTPFields = [:], body: [UInt8] = []) {
        self.status = status
        self.fields = fields
        self.body = body
    }

    /// A text body, by default plain text.
    package init(status: HTTPResponse.Status = .ok, text: String, type: String = "text/plain; charset=utf-8") {
        self.init(status: status, fields: [.contentType: type], body: Array(text.utf8))
    }

    /// An error, `{"code","message"}` (docs/protocol/connecting.md, "Rejected connections"). The code is in a header field too, because
    /// some WebSocket clients show the head of a refused upgrade to their caller but not its body.
    package static func error(_ status: HTTPResponse.Status, _ code: String, _ message: String) -> HTTPServerResponse {
        HTTPServerResponse(
            status: status,
            fields: [.contentType: "application/json", .cacheControl: "no-store", .patchbayError: code],
            body: ErrorBody(code: code, message: message).json)
    }

    package var errorCode: String? { fields[.patchbayError] }
}

extension HTTPField.Name {
    package static let patchbayError = HTTPField.Name("X-Patchbay-Error")!
    package static let requestID = HTTPField.Name("X-Request-ID")!
    package static let idempotencyKey = HTTPField.Name("Idempotency-Key")!
    /// RFC 8288.
    package static let link = HTTPField.Name("Link")!
    /// Fetch Metadata: the relation of the page that asks to the server, as the browser sees it.
    package static let secFetchSite = HTTPField.Name("Sec-Fetch-Site")!
}

// MARK: Writing through libwebsockets
extension HTTPServerResponse {
    /// The response to a refused upgrade, after which the connection ends.
    ///
    /// Assembled by hand: libwebsockets' own would be HTTP/1.0 at this point, and some WebSocket clients accept only HTTP/1.1.
    var refusal: [UInt8] {
        var head = "HTTP/1.1 \(status.code) \(status.reasonPhrase)\r\n"
        for field in fields { head += "\(field.name.rawName): \(field.value)\r\n" }
        head += "Content-Length: \(body.count)\r\nConnection: close\r\n\r\n"
        return Array(head.utf8) + body
    }

    func refuseUpgrade(of wsi: OpaquePointer) {
        var message = [UInt8](repeating: 0, count: Int(patchbay_lws_pre)) + refusal
        unsafe message.withUnsafeMutableBufferPointer { buffer in
            let count = buffer.count - Int(patchbay_lws_pre)
            _ = unsafe lws_write(wsi, buffer.baseAddress! + Int(patchbay_lws_pre), count, LWS_WRITE_HTTP_HEADERS)
        }
    }

    /// - Parameter isLast: no further response follows on this connection.
    /// - Returns: false if the connection is broken.
    func writeHead(to wsi: OpaquePointer, isLast: Bool) -> Bool {
        var fields = fields
        if isLast { fields[.connection] = "close" }
        let fieldBytes = fields.reduce(512) { $0 + $1.name.rawName.utf8.count + $1.value.utf8.count + 8 }
        var buffer = [UInt8](repeating: 0, count: Int(patchbay_lws_pre) + fieldBytes)
        return unsafe buffer.withUnsafeMutableBufferPointer { buffer -> Bool in
            let start = unsafe buffer.baseAddress! + Int(patchbay_lws_pre)
            let end = unsafe buffer.baseAddress! + buffer.count
            var cursor: UnsafeMutablePointer<UInt8>? = unsafe start
            guard unsafe lws_add_http_header_status(wsi, UInt32(status.code), &cursor, end) == 0 else { return false }
            for field in fields {
                let name = field.name.rawName + ":"
                let value = Array(field.value.utf8)
                guard unsafe lws_add_http_header_by_name(wsi, name, value, Int32(value.count), &cursor, end) == 0 else { return false }
            }
            // No length for a response without content (RFC 9110 section 8.6).
            if status != .noContent, status != .notModified,
                unsafe lws_add_http_header_content_length(wsi, UInt64(body.count), &cursor, end) != 0
            {
                return false
            }
            guard unsafe lws_finalize_http_header(wsi, &cursor, end) == 0, let cursor = unsafe cursor else { return false }
            return unsafe lws_write(wsi, start, cursor - start, LWS_WRITE_HTTP_HEADERS) >= 0
        }
    }

    /// Writes a piece of a body; libwebsockets keeps what the socket does not take.
    static func write(_ piece: ArraySlice<UInt8>, isLast: Bool, to wsi: OpaquePointer) -> Bool {
        var padded = [UInt8](repeating: 0, count: Int(patchbay_lws_pre)) + piece
        return unsafe padded.withUnsafeMutableBufferPointer {
            let start = unsafe $0.baseAddress! + Int(patchbay_lws_pre)
            return unsafe lws_write(wsi, start, piece.count, isLast ? LWS_WRITE_HTTP_FINAL : LWS_WRITE_HTTP) >= 0
        }
    }
}

/// The body of every error: `{"code","message"}`.
private struct ErrorBody: Encodable {
    var code: String
    var message: String

    var json: [UInt8] { (try? JSON.encode(self, names: .asDeclared)) ?? [] }
}

/// The gzip format (RFC 1952), for HTTP bodies.
package enum Gzip {
    /// - Returns: nil if that is not shorter.
    package static func compressed(_ bytes: [UInt8]) -> [UInt8]? {
        var stream = unsafe z_stream()
        guard unsafe patchbay_gzip_init(&stream, 6) == Z_OK else { return nil }
        defer { unsafe deflateEnd(&stream) }
        var bytes = bytes
        var isWhole = false
        let compressed = unsafe [UInt8](unsafeUninitializedCapacity: bytes.count) { room, count in
            unsafe bytes.withUnsafeMutableBufferPointer { bytes in
                unsafe stream.next_in = bytes.baseAddress
                unsafe stream.avail_in = UInt32(bytes.count)
                unsafe stream.next_out = room.baseAddress
                unsafe stream.avail_out = UInt32(room.count)
                isWhole = unsafe deflate(&stream, Z_FINISH) == Z_STREAM_END
                count = unsafe room.count - Int(stream.avail_out)
            }
        }
        return isWhole ? compressed : nil
    }
}
