internal import CLibwebsockets
internal import Glibc

/// The descriptor by which lws wakes its own loop, guarded against lws.
///
/// On libuv lws 4.1 closes it twice: in `lws_context_destroy`, and again in a turn of the loop that follows. In between the number
/// may have been given to another thread's socket or file, which would then be closed under its owner's hands. So the number is
/// kept taken until lws has closed it again.
struct EventPipe {
    private let descriptor: Int32

    /// - Parameter uv: a loop on which an lws context has just been made, and nothing else that polls.
    init?(of uv: UnsafeMutablePointer<uv_loop_t>) {
        var found: Int32 = -1
        unsafe withUnsafeMutablePointer(to: &found) { found in
            unsafe uv_walk(
                uv,
                { handle, found in
                    var descriptor: Int32 = -1
                    guard let handle = unsafe handle, unsafe uv_handle_get_type(handle) == UV_POLL,
                        unsafe uv_fileno(handle, &descriptor) == 0
                    else { return }
                    unsafe found?.storeBytes(of: descriptor, as: Int32.self)
                }, found)
        }
        guard found >= 0 else { return nil }
        descriptor = found
    }

    /// Takes the number again after lws has closed it once.
    ///
    /// - Returns: false if somebody else was faster. Then lws must not get another turn: better that its memory is lost.
    func keepTaken() -> Bool {
        let blank = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
        if blank == descriptor { return true }
        guard blank >= 0 else { return false }
        defer { _ = Glibc.close(blank) }
        // The lowest free number from there on: ours, if nobody has it.
        let keeper = fcntl(blank, F_DUPFD_CLOEXEC, descriptor)
        if keeper == descriptor { return true }
        if keeper >= 0 { _ = Glibc.close(keeper) }
        return false
    }
}
