internal import CLibwebsockets

/// One HTTPS request of ours and its whole answer. Made and used on a loop's thread; see `Loop.send(_:)`.
@safe package final class HTTPCall: Attachment {
    /// The longest answer that is taken, in bytes.
    package static let answerBytesMax = 16 << 20

    /// An answer, whatever its status.
    package struct Answer: Sendable {
        package var status: Int
        package var body: [UInt8]
    }

    package let method: String
    package let endpoint: Endpoint
    private let body: [UInt8]
    private var completion: ((Result<Answer, ConnectError>) -> Void)?
    private var status = 0
    private var received: [UInt8] = []
    /// The handle in lws; nil before the request is on its way and after it is destroyed.
    private var wsi: OpaquePointer?

    /// - Parameters:
    ///   - method: `GET`, `DELETE`, `PATCH`, ….
    ///   - body: JSON, or nothing.
    ///   - completion: called once, on the loop's thread.
    package init(
        _ method: String, _ endpoint: Endpoint, body: [UInt8] = [], completion: @escaping (Result<Answer, ConnectError>) -> Void
    ) {
        self.method = method
        self.endpoint = endpoint
        self.body = body
        self.completion = completion
    }

    /// Gives up: nobody is told any more, and the connection ends.
    package func cancel() {
        completion = nil
        if let wsi = unsafe wsi { unsafe lws_set_timeout(wsi, PENDING_TIMEOUT_USER_REASON_BASE, Int32(LWS_TO_KILL_ASYNC)) }
    }

    // MARK: What lws tells (see Callback)

    func attach(_ wsi: OpaquePointer) {
        unsafe self.wsi = unsafe wsi
    }

    /// - Returns: what the callback returns: 0 to go on, -1 to end the connection.
    func handle(_ reason: lws_callback_reasons, _ wsi: OpaquePointer, _ input: UnsafeMutableRawPointer?, _ length: Int) -> Int32 {
        switch reason {
        case LWS_CALLBACK_CLIENT_HTTP_WRITEABLE:
            return unsafe writeBody(to: wsi) ? 0 : -1
        case LWS_CALLBACK_ESTABLISHED_CLIENT_HTTP:
            status = unsafe Int(lws_http_client_http_response(wsi))
        case LWS_CALLBACK_RECEIVE_CLIENT_HTTP:
            return unsafe read(from: wsi) ? 0 : -1
        case LWS_CALLBACK_RECEIVE_CLIENT_HTTP_READ:
            guard received.count + length <= Self.answerBytesMax else { return -1 }
            unsafe received.append(contentsOf: UnsafeRawBufferPointer(start: input, count: length))
        case LWS_CALLBACK_COMPLETED_CLIENT_HTTP:
            complete(.success(Answer(status: status, body: received)))
            return -1
        default:
            complete(.failure(ConnectError(message: "the connection ended before the answer was whole")))
        }
        return 0
    }

    func failed(_ words: String) {
        complete(.failure(ConnectError(message: words)))
    }

    func appendHeaders(to wsi: OpaquePointer, at cursor: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>, room: Int) -> Bool {
        guard let start = unsafe cursor.pointee else { return true }
        func add(_ name: String, _ value: String) -> Bool {
            unsafe lws_add_http_header_by_name(wsi, name + ":", Array(value.utf8), Int32(value.utf8.count), cursor, start + room) == 0
        }
        if let authorization = endpoint.authorization, !add("authorization", authorization) { return false }
        if body.isEmpty { return true }
        guard add("content-type", "application/json"), add("content-length", String(body.count)) else { return false }
        unsafe lws_client_http_body_pending(wsi, 1)
        unsafe lws_callback_on_writable(wsi)
        return true
    }

    override func destroyed() {
        unsafe wsi = nil
        failed("the connection ended before the answer came")
    }

    private func complete(_ result: Result<Answer, ConnectError>) {
        completion?(result)
        completion = nil
    }

    private func writeBody(to wsi: OpaquePointer) -> Bool {
        guard !body.isEmpty else { return true }
        unsafe lws_client_http_body_pending(wsi, 0)
        var padded = [UInt8](repeating: 0, count: Int(patchbay_lws_pre)) + body
        return unsafe padded.withUnsafeMutableBufferPointer {
            unsafe lws_write(wsi, $0.baseAddress! + Int(patchbay_lws_pre), body.count, LWS_WRITE_HTTP_FINAL) >= 0
        }
    }

    /// lws hands the bytes to `RECEIVE_CLIENT_HTTP_READ` from within this.
    private func read(from wsi: OpaquePointer) -> Bool {
        var buffer = [CChar](repeating: 0, count: Int(patchbay_lws_pre) + 4_096)
        return unsafe buffer.withUnsafeMutableBufferPointer { buffer in
            var start: UnsafeMutablePointer<CChar>? = unsafe buffer.baseAddress! + Int(patchbay_lws_pre)
            var length: Int32 = 4_096
            return unsafe lws_http_client_read(wsi, &start, &length) >= 0
        }
    }
}
