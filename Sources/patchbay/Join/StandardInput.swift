import Foundation
import Glibc

/// Standard input without holding up a thread of the pool: a thread of its own reads, and no further ahead than a few pieces.
///
/// A read that blocks for ever blocks that thread only; who waits here can be cancelled.
final class StandardInput: Sendable {
    private static let piecesAhead = 8
    private static let pieceBytes = 32_768

    /// Begins at 0, because a semaphore must not end below where it began.
    private let room = DispatchSemaphore(value: 0)
    private let pieces: AsyncStream<[UInt8]>

    init() {
        let (pieces, sink) = AsyncStream.makeStream(of: [UInt8].self)
        self.pieces = pieces
        for _ in 0..<Self.piecesAhead { room.signal() }
        let reader = Thread { [room] in
            while true {
                room.wait()
                var piece = [UInt8](repeating: 0, count: Self.pieceBytes)
                let count = Glibc.read(STDIN_FILENO, &piece, piece.count)
                guard count > 0 else { break }
                sink.yield(Array(piece[..<count]))
            }
            sink.finish()
        }
        reader.name = "stdin"
        reader.start()
    }

    /// At least so many bytes, fewer only at the end.
    func read(atLeast count: Int) async -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count, let piece = await nextPiece() { bytes += piece }
        return bytes
    }

    func readAll() async -> [UInt8] {
        await read(atLeast: .max)
    }

    private func nextPiece() async -> [UInt8]? {
        for await piece in pieces {
            room.signal()
            return piece
        }
        return nil
    }
}
