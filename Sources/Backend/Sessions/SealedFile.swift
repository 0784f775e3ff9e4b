internal import Foundation
internal import Identity

/// An append-only file of sealed chunks, each bound to the file's name and its index.
final class SealedFile: RecordingFile {
    private static let lengthBytes = 4

    private let handle: FileHandle
    private let name: String
    private let key: SealingKey
    private var chunks = 0

    init(handle: FileHandle, name: String, key: SealingKey) {
        self.handle = handle
        self.name = name
        self.key = key
    }

    func append(_ bytes: [UInt8]) throws {
        let sealed = SealedBox.seal(bytes, with: key, at: Self.binding(ofChunk: chunks, in: name))
        chunks += 1
        let length = UInt32(sealed.count)
        try handle.write(contentsOf: Data((0..<Self.lengthBytes).map { UInt8(truncatingIfNeeded: length >> (24 - 8 * $0)) } + sealed))
    }

    func close() throws {
        try handle.close()
    }

    /// The content, up to the first truncated or modified chunk.
    static func open(_ file: [UInt8], name: String, key: SealingKey) -> [UInt8] {
        var plain: [UInt8] = []
        var next = 0
        var chunks = 0
        while next + lengthBytes <= file.count {
            let length = file[next..<next + lengthBytes].reduce(0) { $0 << 8 | Int($1) }
            let start = next + lengthBytes
            guard start + length <= file.count,
                let chunk = SealedBox.open(Array(file[start..<start + length]), with: key, at: binding(ofChunk: chunks, in: name))
            else { break }
            plain += chunk
            (next, chunks) = (start + length, chunks + 1)
        }
        return plain
    }

    private static func binding(ofChunk index: Int, in name: String) -> String { "recordings/\(name)/\(index)" }
}
