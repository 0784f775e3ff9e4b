internal import Glibc

/// Holds a directory for one process at a time, as long as it lives. The kernel lets go when the process ends, however it ends.
final class DirectoryLock: Sendable {
    private let descriptor: Int32

    /// - Throws: `alreadyOpen`.
    init(directory: String) throws(StoreError) {
        let descriptor = open(directory + "/lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .failed("\(directory)/lock can't be made: \(String(cString: strerror(errno)))") }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            throw .alreadyOpen(directory: directory)
        }
        self.descriptor = descriptor
    }

    /// Lets others in at once.
    func release() {
        flock(descriptor, LOCK_UN)
    }

    deinit {
        // A process that is just being started may have the descriptor too.
        release()
        close(descriptor)
    }
}
