import Foundation

/// Copies a store's recordings to a directory beside the backup of its database. The encrypted files are copied as they are; the copy of a
/// file that is still being written is readable up to its last complete chunk.
struct RecordingsBackup {
    let source: URL
    let destination: URL

    /// - Parameters:
    ///   - directory: of the store.
    ///   - file: the backup of its database.
    init(of directory: String, beside file: String) {
        source = URL(filePath: directory).appending(path: "recordings", directoryHint: .isDirectory)
        let name = file.hasSuffix(".sqlite") ? String(file.dropLast(".sqlite".count)) : file
        destination = URL(filePath: name + ".recordings", directoryHint: .isDirectory)
    }

    /// - Throws: `UsageError` if the destination exists.
    func checkAbsent() throws {
        guard !FileManager.default.fileExists(atPath: destination.path) else {
            throw UsageError("There is a directory at \(destination.path) already; choose another name for the backup.")
        }
    }

    /// Copies the files of these recordings. Missing files were deleted in the meantime, or belong to a call that has just begun.
    func copy(_ names: [String]) throws -> Copy {
        guard !names.isEmpty else { return Copy(directory: nil, files: 0, bytes: 0, missing: 0) }
        // An interrupted copy must not look complete.
        let unfinished = URL(filePath: destination.path + ".unfinished", directoryHint: .isDirectory)
        try? FileManager.default.removeItem(at: unfinished)
        try FileManager.default.createDirectory(at: unfinished, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        var copy = Copy(directory: destination.path, files: 0, bytes: 0, missing: 0)
        for name in names {
            let file = source.appending(path: name, directoryHint: .notDirectory)
            let target = unfinished.appending(path: name, directoryHint: .notDirectory)
            do {
                try FileManager.default.copyItem(at: file, to: target)
            } catch {
                guard !FileManager.default.fileExists(atPath: file.path) else { throw error }
                copy.missing += 1
                continue
            }
            copy.files += 1
            copy.bytes += try FileManager.default.attributesOfItem(atPath: target.path)[.size] as? Int ?? 0
        }
        try FileManager.default.moveItem(at: unfinished, to: destination)
        return copy
    }

    struct Copy: Encodable, CustomStringConvertible {
        /// Nil if there were no recordings.
        var directory: String?
        var files: Int
        var bytes: Int
        /// Recordings without a file.
        var missing: Int

        var description: String {
            guard let directory else { return "there are no recordings" }
            return "copied \(files) recordings of \(bytes) bytes to \(directory)" + (missing > 0 ? "; \(missing) have no file" : "")
        }
    }
}

/// JSON output of `store backup`.
struct WrittenBackup: Encodable {
    var file: String
    var bytes: Int
    /// Nil if they were left out.
    var recordings: RecordingsBackup.Copy?
}
