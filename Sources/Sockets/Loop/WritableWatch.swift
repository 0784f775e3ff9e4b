internal import CLibwebsockets
internal import Glibc

/// Reports when a socket takes more, independently of libwebsockets, which does not while its reading is paused (`lws_rx_flow_control`).
///
/// Watches a duplicate of the descriptor, because libuv watches each only once. Used on the loop's thread, stopped before the loop ends.
@safe final class WritableWatch {
    private let poll = UnsafeMutablePointer<uv_poll_t>.allocate(capacity: 1)
    private let descriptor: Int32
    private let isWritable: () -> Void
    private var isStopped = false

    /// - Parameter isWritable: called in each turn in which the socket takes more. May stop the watch.
    init?(
        _ socket: Int32, on loop: UnsafeMutablePointer<uv_loop_t>, _ recordLayer: LoopRecordLayer, isWritable: @escaping () -> Void
    ) {
        self.isWritable = isWritable
        descriptor = fcntl(socket, F_DUPFD_CLOEXEC, 0)
        guard descriptor >= 0, unsafe uv_poll_init(loop, poll, descriptor) == 0 else {
            if descriptor >= 0 { close(descriptor) }
            unsafe poll.deallocate()
            return nil
        }
        unsafe poll.pointee.data = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe recordLayer.poll(poll, for: UV_WRITABLE) { poll, _, _ in
            guard let data = unsafe poll?.pointee.data else { return }
            unsafe Unmanaged<WritableWatch>.fromOpaque(data).takeUnretainedValue().isWritable()
        }
    }

    deinit { precondition(isStopped, "a watch must be stopped before it is released") }

    func stop() {
        guard !isStopped else { return }
        isStopped = true
        unsafe uv_poll_stop(poll)
        unsafe uv_close(patchbay_poll_handle(poll)) { handle in unsafe handle?.deallocate() }
        close(descriptor)
    }
}
