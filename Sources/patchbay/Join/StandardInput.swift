import Foundation
import Glibc

/// Asynchronous standard input, read a few pieces ahead by a dedicated thread.
///
/// A read that never returns blocks only that thread; callers can be cancelled.
final class StandardInput: Sendable {
    private static let piecesAhead = 8
    private static let pieceBytes = 32_768

    /// Starts at 0, because a semaphore must not be destroyed below its initial value.
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

    /// Returns at least `count` bytes; fewer only at the end of the input.
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
