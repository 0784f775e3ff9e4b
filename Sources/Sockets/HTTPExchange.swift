internal import CLibwebsockets
package import HTTPTypes

/// One HTTP request and its answer, which may come later but only from the loop's thread.
///
/// Lives as long as somebody holds it or lws has its transaction; an answer to a client that has gone is dropped.
@safe package final class HTTPExchange: Attachment {
    /// The largest request body, in bytes.
    package static let bodyBytesMax = 1 << 20

    package let method: HTTPRequest.Method
    package let path: String
    package let authorization: String?
    package let contentType: String?
    package let origin: String?
    package let isSecure: Bool
    package let peerAddress: String
    package private(set) var body: [UInt8] = []
    /// Why the body is not read. The connection ends after the answer, because what follows is not the next request.
    package internal(set) var fault: Fault?

    package enum Fault {
        case bodyInChunks, bodyTooBig
    }

    private var wsi: OpaquePointer?
    private let query: Query
    private var response: Response?
    private var isHandedOver = false
    private var isAnswered = false

    init(wsi: OpaquePointer, method: String, path: String, peerAddress: String) {
        unsafe self.wsi = unsafe wsi
        self.method = HTTPRequest.Method(method) ?? .get
        self.path = path
        self.query = unsafe Query(of: wsi)
        self.authorization = unsafe Header.authorization.text(of: wsi)
        self.contentType = unsafe Header.contentType.text(of: wsi)
        self.origin = unsafe Header.origin.text(of: wsi)
        self.isSecure = unsafe lws_is_ssl(wsi) != 0
        self.peerAddress = peerAddress
    }

    package func query(_ name: String) -> String? { query[name] }

    /// Answers. Only the first answer counts.
    package func respond(_ response: Response) {
        guard self.response == nil else { return }
        self.response = response
        if let wsi = unsafe wsi { unsafe lws_callback_on_writable(wsi) }
    }

    // MARK: What lws tells (see Callback)

    /// The request is there whole. lws says so twice of a body of no bytes.
    func handOver(to owner: any SocketOwner) {
        guard !isHandedOver else { return }
        isHandedOver = true
        owner.handle(self)
    }

    /// - Returns: false if the body is too big.
    func append(_ piece: UnsafeRawBufferPointer) -> Bool {
        guard body.count + piece.count <= Self.bodyBytesMax else { return false }
        unsafe body.append(contentsOf: piece)
        return true
    }

    /// Writes the answer, if it is there.
    ///
    /// - Returns: false to end the connection.
    func writable() -> Bool {
        guard let wsi = unsafe wsi, let response, !isAnswered else { return true }
        isAnswered = true
        guard unsafe response.write(to: wsi, omittingBody: method == .head) else { return false }
        return unsafe fault == nil && lws_http_transaction_completed(wsi) == 0
    }

    override func destroyed() {
        unsafe wsi = nil
    }
}

/// An HTTP answer: status, a few fields, a body that is there whole.
package struct Response: Sendable {
    package var status: HTTPResponse.Status
    package var fields: HTTPFields
    package var body: [UInt8]

    package init(status: HTTPResponse.Status, fields: HTTPFields = [:], body: [UInt8] = []) {
        self.status = status
        self.fields = fields
        self.body = body
    }

    /// Plain text, or whatever `type` says.
    package init(status: HTTPResponse.Status = .ok, text: String, type: String = "text/plain; charset=utf-8") {
        self.init(status: status, fields: [.contentType: type], body: Array(text.utf8))
    }

    /// An error as PROTOCOL section 2 has it: `{"code","message"}`. The code stands in a field of its own too, because some WebSocket
    /// clients show their caller the head of a refused upgrade but not its body.
    package static func error(_ status: HTTPResponse.Status, _ code: String, _ message: String) -> Response {
        let body = #"{"code":"\#(code)","message":"\#(message.filter { $0 != "\"" && $0 != "\\" && !$0.isNewline })"}"#
        return Response(
            status: status,
            fields: [.contentType: "application/json", .cacheControl: "no-store", HTTPField.Name(errorFieldName)!: code],
            body: Array(body.utf8))
    }

    static let errorFieldName = "X-Patchbay-Error"

    /// The code of an error; nil of any other answer.
    package var errorCode: String? { fields[HTTPField.Name(Self.errorFieldName)!] }

    /// Writes an answer to a request to upgrade, after which the connection ends.
    ///
    /// Put together by hand: lws calls its own HTTP/1.0 until it has read the version of the request, which is later, and WebSocket
    /// clients exist that take nothing but HTTP/1.1.
    func refuseUpgrade(of wsi: OpaquePointer) {
        var head = "HTTP/1.1 \(status.code) \(status.reasonPhrase)\r\n"
        for field in fields { head += "\(field.name.rawName): \(field.value)\r\n" }
        head += "Content-Length: \(body.count)\r\nConnection: close\r\n\r\n"
        var message = [UInt8](repeating: 0, count: Int(patchbay_lws_pre)) + Array(head.utf8) + body
        unsafe message.withUnsafeMutableBufferPointer { buffer in
            let count = buffer.count - Int(patchbay_lws_pre)
            _ = unsafe lws_write(wsi, buffer.baseAddress! + Int(patchbay_lws_pre), count, LWS_WRITE_HTTP_HEADERS)
        }
    }

    func write(to wsi: OpaquePointer, omittingBody: Bool = false) -> Bool {
        let fieldBytes = fields.reduce(512) { $0 + $1.name.rawName.utf8.count + $1.value.utf8.count + 8 }
        var buffer = [UInt8](repeating: 0, count: Int(patchbay_lws_pre) + fieldBytes)
        let headSent = unsafe buffer.withUnsafeMutableBufferPointer { buffer -> Bool in
            let start = unsafe buffer.baseAddress! + Int(patchbay_lws_pre)
            let end = unsafe buffer.baseAddress! + buffer.count
            var cursor: UnsafeMutablePointer<UInt8>? = unsafe start
            guard unsafe lws_add_http_header_status(wsi, UInt32(status.code), &cursor, end) == 0 else { return false }
            for field in fields {
                let name = field.name.rawName + ":"
                let value = Array(field.value.utf8)
                guard unsafe lws_add_http_header_by_name(wsi, name, value, Int32(value.count), &cursor, end) == 0 else { return false }
            }
            guard unsafe lws_add_http_header_content_length(wsi, UInt64(body.count), &cursor, end) == 0,
                unsafe lws_finalize_http_header(wsi, &cursor, end) == 0, let cursor = unsafe cursor
            else { return false }
            return unsafe lws_write(wsi, start, cursor - start, LWS_WRITE_HTTP_HEADERS) >= 0
        }
        guard headSent else { return false }
        guard !body.isEmpty, !omittingBody else { return true }
        var padded = [UInt8](repeating: 0, count: Int(patchbay_lws_pre)) + body
        return unsafe padded.withUnsafeMutableBufferPointer {
            unsafe lws_write(wsi, $0.baseAddress! + Int(patchbay_lws_pre), body.count, LWS_WRITE_HTTP_FINAL) >= 0
        }
    }
}
