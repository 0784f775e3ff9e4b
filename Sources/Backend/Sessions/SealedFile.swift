internal import Foundation
internal import Identity

/// A file that grows by sealed pieces, each bound to the file's name and its place in it.
final class SealedFile: RecordingFile {
    private static let lengthBytes = 4

    private let handle: FileHandle
    private let name: String
    private let key: SealingKey
    private var pieces = 0

    init(handle: FileHandle, name: String, key: SealingKey) {
        self.handle = handle
        self.name = name
        self.key = key
    }

    func append(_ bytes: [UInt8]) throws {
        let sealed = SealedBox.seal(bytes, with: key, at: Self.place(pieces, in: name))
        pieces += 1
        let length = UInt32(sealed.count)
        try handle.write(contentsOf: Data((0..<Self.lengthBytes).map { UInt8(truncatingIfNeeded: length >> (24 - 8 * $0)) } + sealed))
    }

    func close() throws {
        try handle.close()
    }

    /// What was written, as far as it is whole and untouched.
    static func open(_ file: [UInt8], name: String, key: SealingKey) -> [UInt8] {
        var plain: [UInt8] = []
        var next = 0
        var pieces = 0
        while next + lengthBytes <= file.count {
            let length = file[next..<next + lengthBytes].reduce(0) { $0 << 8 | Int($1) }
            let start = next + lengthBytes
            guard start + length <= file.count,
                let piece = SealedBox.open(Array(file[start..<start + length]), with: key, at: place(pieces, in: name))
            else { break }
            plain += piece
            (next, pieces) = (start + length, pieces + 1)
        }
        return plain
    }

    private static func place(_ piece: Int, in name: String) -> String { "recordings/\(name)/\(piece)" }
}
