internal import Foundation
internal import Glibc

/// Files and directories that only their owner may access, also if they existed with wider modes.
package enum PrivateFiles {
    private static let fileMode: mode_t = 0o600
    private static let directoryMode: mode_t = 0o700
    private static let permissions: mode_t = 0o7777

    /// Creates the directory unless it exists.
    ///
    /// A directory of another user, or one that is shared by all (sticky, as `/tmp`), is left as it is: the files in it are private
    /// nevertheless.
    package static func makeDirectory(_ path: String) throws(StoreError) {
        do {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: Int(directoryMode)])
        } catch {
            throw .refused("The directory \(path) cannot be created; check the path and its permissions.")
        }
        var status = stat()
        guard stat(path, &status) == 0, status.st_uid == geteuid(), status.st_mode & S_ISVTX == 0 else { return }
        try restrict(path, status, to: directoryMode)
    }

    /// Creates an empty file and opens it for writing. The caller closes the descriptor.
    ///
    /// - Throws: `refused`, also if the file exists.
    package static func create(_ path: String) throws(StoreError) -> Int32 {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, fileMode)
        guard descriptor >= 0 else { throw .refused("\(path) cannot be created: \(String(cString: strerror(errno))).") }
        return descriptor
    }

    /// Takes access from others to those of the files that exist. Symbolic links are left as they are.
    package static func restrict(_ paths: some Sequence<String>) throws(StoreError) {
        for path in paths {
            var status = stat()
            guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { continue }
            try restrict(path, status, to: fileMode)
        }
    }

    /// Removes permissions only: what the owner may not do is left as it is.
    private static func restrict(_ path: String, _ status: stat, to mode: mode_t) throws(StoreError) {
        let old = status.st_mode & permissions
        guard old & ~mode != 0 else { return }
        guard chmod(path, old & mode) == 0 else {
            let octal = String(mode, radix: 8)
            throw .refused("Others may read \(path), and its mode cannot be changed; run `chmod \(octal) \(path)` as its owner.")
        }
    }
}

/// Locks a directory for one process. The kernel releases the lock when the process ends.
final class DirectoryLock: Sendable {
    private let descriptor: Int32

    /// - Throws: `alreadyOpen`.
    init(directory: String) throws(StoreError) {
        let descriptor = open(directory + "/lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .failed("\(directory)/lock can't be made: \(String(cString: strerror(errno)))") }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            defer { close(descriptor) }
            throw .alreadyOpen(store: directory, owner: Self.owner(in: descriptor).map { "process \($0)" })
        }
        self.descriptor = descriptor
        // For the message of a process that finds the directory locked; nothing depends on it.
        let owner = Array("\(getpid())\n".utf8)
        if ftruncate(descriptor, 0) == 0 { _ = pwrite(descriptor, owner, owner.count, 0) }
    }

    private static func owner(in descriptor: Int32) -> Int32? {
        var bytes = [UInt8](repeating: 0, count: 16)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        return Int32(String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self).trimmingCharacters(in: .newlines))
    }

    func release() { flock(descriptor, LOCK_UN) }

    deinit {
        // A child process may have inherited the descriptor.
        release()
        close(descriptor)
    }
}
