internal import CLibwebsockets
internal import Glibc

/// Reads the PROXY header of one accepted connection, before libwebsockets knows of it.
///
/// Takes exactly the header's bytes from the socket, however they arrive, and waits for them on the loop without blocking it. Ends once:
/// with the header, or with the reason to close the connection.
@safe final class ProxyHeaderReader {
    private let descriptor: Int32
    private let poll = UnsafeMutablePointer<uv_poll_t>.allocate(capacity: 1)
    private let timer = UnsafeMutablePointer<uv_timer_t>.allocate(capacity: 1)
    private let finished: (Result<ProxyHeader, Refusal>) -> Void
    private var bytes: [UInt8] = []
    private var isWatching = false

    struct Refusal: Error {
        var fault: ProxyHeader.Fault
    }

    /// - Parameter finished: called once, unless `stop` is called before; possibly before `start` returns.
    init(_ descriptor: Int32, finished: @escaping (Result<ProxyHeader, Refusal>) -> Void) {
        self.descriptor = descriptor
        self.finished = finished
    }

    deinit { precondition(!isWatching, "a reader must be stopped before it is released") }

    /// - Parameter milliseconds: the time until the header counts as slow.
    func start(on uv: UnsafeMutablePointer<uv_loop_t>, _ recordLayer: LoopRecordLayer, within milliseconds: UInt64) {
        guard unsafe uv_poll_init(uv, poll, descriptor) == 0 else {
            unsafe poll.deallocate()
            unsafe timer.deallocate()
            return finished(.failure(Refusal(fault: .malformed)))
        }
        isWatching = true
        unsafe uv_timer_init(uv, timer)
        let this = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe poll.pointee.data = unsafe this
        unsafe timer.pointee.data = unsafe this
        unsafe uv_timer_start(
            timer,
            { timer in
                guard let data = unsafe timer?.pointee.data else { return }
                unsafe Unmanaged<ProxyHeaderReader>.fromOpaque(data).takeUnretainedValue().end(.failure(Refusal(fault: .slow)))
            }, milliseconds, 0)
        unsafe recordLayer.poll(poll, for: UV_READABLE) { poll, _, _ in
            guard let data = unsafe poll?.pointee.data else { return }
            unsafe Unmanaged<ProxyHeaderReader>.fromOpaque(data).takeUnretainedValue().read()
        }
        // The header has usually arrived with the connection.
        read()
    }

    /// Stops without an outcome. The descriptor is the caller's again.
    func stop() {
        guard isWatching else { return }
        isWatching = false
        // Before libwebsockets polls the same descriptor: libuv watches each only once.
        unsafe uv_poll_stop(poll)
        unsafe uv_timer_stop(timer)
        unsafe uv_close(patchbay_poll_handle(poll)) { handle in unsafe handle?.deallocate() }
        unsafe uv_close(patchbay_timer_handle(timer)) { handle in unsafe handle?.deallocate() }
    }

    private func end(_ result: Result<ProxyHeader, Refusal>) {
        stop()
        finished(result)
    }

    private func read() {
        while true {
            switch ProxyHeader.parse(bytes) {
            case .complete(let header): return end(.success(header))
            case .refused(let fault): return end(.failure(Refusal(fault: fault)))
            case .needs(let total):
                var piece = [UInt8](repeating: 0, count: total - bytes.count)
                let count = unsafe recv(descriptor, &piece, piece.count, Int32(MSG_DONTWAIT))
                if count > 0 {
                    bytes += piece.prefix(count)
                } else if count < 0, errno == EAGAIN || errno == EINTR {
                    return
                } else {
                    return end(.failure(Refusal(fault: .truncated)))
                }
            }
        }
    }
}
