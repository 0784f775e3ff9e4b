internal import CLibwebsockets
internal import HTTPTypes

/// One request of ours on one connection, and its whole answer. Made and used on a loop's thread; see `Loop.send(_:)`.
@safe final class HTTPCall: Attachment {
    let method: String
    let endpoint: Endpoint
    private let fields: HTTPFields
    private let body: [UInt8]
    private let answerBytesMax: Int
    private var completion: ((Result<HTTPAnswer, ConnectError>) -> Void)?
    /// Whether the other side may have had something of the request.
    private(set) var hasBegun = false
    private var status = 0
    /// The length of the answer's body in bytes, if it says so.
    private var awaited: Int?
    /// Whether nothing but the connection's end tells where the answer ends.
    private var isEndedByClose = false
    private var received: [UInt8] = []
    /// The handle in lws; nil before the request is on its way and after it is destroyed.
    private var wsi: OpaquePointer?

    /// - Parameter completion: called once, on the loop's thread.
    init(_ request: HTTPClientRequest, at address: String?, completion: @escaping (Result<HTTPAnswer, ConnectError>) -> Void) {
        method = request.method
        endpoint = request.endpoint(at: address)
        fields = request.fields
        body = request.body
        answerBytesMax = request.answerBytesMax
        self.completion = completion
    }

    /// Gives up, unless it is over: nobody is told any more, and the connection ends.
    func cancel() {
        guard completion != nil else { return }
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
            awaited = unsafe RequestHeader.contentLength.text(of: wsi).flatMap { Int($0) }
            // lws would wait for a body until the connection ends.
            if awaited == 0 || status == 204 || status == 304 { return finish() }
            isEndedByClose = unsafe awaited == nil && lws_hdr_total_length(wsi, WSI_TOKEN_HTTP_TRANSFER_ENCODING) == 0
        case LWS_CALLBACK_RECEIVE_CLIENT_HTTP:
            return unsafe read(from: wsi) ? 0 : -1
        case LWS_CALLBACK_RECEIVE_CLIENT_HTTP_READ:
            guard received.count + length <= answerBytesMax else {
                failed("the answer is longer than \(answerBytesMax) bytes")
                return -1
            }
            unsafe received.append(contentsOf: UnsafeRawBufferPointer(start: input, count: length))
        case LWS_CALLBACK_COMPLETED_CLIENT_HTTP:
            return finish()
        default:
            if isEndedByClose || awaited == received.count { return finish() }
            failed(status == 0 ? "the connection ended before the answer came" : "the connection ended before the answer was whole")
        }
        return 0
    }

    private func finish() -> Int32 {
        complete(.success(HTTPAnswer(status: status, body: received)))
        return -1
    }

    func failed(_ words: String) {
        complete(.failure(ConnectError(message: words)))
    }

    func appendHeaders(to wsi: OpaquePointer, at cursor: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>, room: Int) -> Bool {
        hasBegun = true
        guard let start = unsafe cursor.pointee else { return true }
        for field in fields {
            let (name, value) = (field.name.rawName + ":", Array(field.value.utf8))
            guard unsafe lws_add_http_header_by_name(wsi, name, value, Int32(value.count), cursor, start + room) == 0 else { return false }
        }
        guard !body.isEmpty else { return true }
        let length = Array(String(body.count).utf8)
        guard unsafe lws_add_http_header_by_name(wsi, "content-length:", length, Int32(length.count), cursor, start + room) == 0 else {
            return false
        }
        unsafe lws_client_http_body_pending(wsi, 1)
        unsafe lws_callback_on_writable(wsi)
        return true
    }

    override func destroyed() {
        unsafe wsi = nil
        failed("the connection ended before the answer came")
    }

    private func complete(_ result: Result<HTTPAnswer, ConnectError>) {
        let completion = completion
        self.completion = nil
        completion?(result)
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
