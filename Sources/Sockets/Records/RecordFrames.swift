internal import Glibc

/// The WebSocket frames in one TLS record (RFC 6455 section 5.2), for the frame's way: media come as one whole message, in one frame, in one
/// record, and so do words about them and the pongs by which listeners show that they read. All else is for lws.
enum RecordFrames {
    /// What a frame holds, by its first byte: final, without reserved bits.
    enum Kind: UInt8 {
        case text = 0x81
        case binary = 0x82
        case pong = 0x8A
    }

    enum Finding: Hashable {
        /// Whole messages, pongs, and nothing else.
        case messages
        /// Whole frames, of which not all are one of these.
        case others
        /// A piece of a frame, or a frame that is a piece of a message: what follows cannot be understood without it.
        case pieces
    }

    /// - Parameter areMasked: as those of clients are.
    static func look(at record: UnsafeRawBufferPointer, areMasked: Bool) -> Finding {
        var finding = Finding.messages
        var rest = unsafe record
        while let start = rest.baseAddress, unsafe !rest.isEmpty {
            guard let frame = unsafe Frame(at: rest) else { return .pieces }
            let first = unsafe start.load(as: UInt8.self)
            // Continuations, and beginnings that are no ends.
            if first & 0x0F == 0 || first & 0x80 == 0 { return .pieces }
            switch Kind(rawValue: first) {
            case .text, .binary: break
            case .pong where frame.payloadCount < 126: break
            default: finding = .others
            }
            if frame.isMasked != areMasked { finding = .others }
            unsafe rest = unsafe UnsafeRawBufferPointer(rebasing: rest[frame.count...])
        }
        return finding
    }

    /// Unmasks the messages and pongs of a record, in place, and hands them over one by one.
    static func forEachMessage(in record: UnsafeMutableRawBufferPointer, _ body: (UnsafeRawBufferPointer, Kind) -> Void) {
        var rest = unsafe record
        while let first = unsafe rest.first, let kind = Kind(rawValue: first), let frame = unsafe Frame(at: UnsafeRawBufferPointer(rest)) {
            let payload = unsafe UnsafeMutableRawBufferPointer(rebasing: rest[frame.headerCount..<frame.count])
            if frame.isMasked, let start = payload.baseAddress {
                unsafe unmask(start, payload.count, with: (start - 4).loadUnaligned(as: UInt32.self))
            }
            unsafe body(UnsafeRawBufferPointer(payload), kind)
            unsafe rest = unsafe UnsafeMutableRawBufferPointer(rebasing: rest[frame.count...])
        }
    }

    /// RFC 6455 section 5.3, eight bytes at a time.
    private static func unmask(_ start: UnsafeMutableRawPointer, _ count: Int, with mask: UInt32) {
        let wide = UInt64(mask) << 32 | UInt64(mask)
        var offset = 0
        while offset + 8 <= count {
            let bytes = unsafe start.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            unsafe start.storeBytes(of: bytes ^ wide, toByteOffset: offset, as: UInt64.self)
            offset += 8
        }
        while offset < count {
            let byte = UInt8(truncatingIfNeeded: mask >> UInt32(8 * (offset & 3)))
            unsafe start.storeBytes(of: start.load(fromByteOffset: offset, as: UInt8.self) ^ byte, toByteOffset: offset, as: UInt8.self)
            offset += 1
        }
    }

    /// Where a frame ends.
    private struct Frame {
        let isMasked: Bool
        let headerCount: Int
        /// With the header.
        let count: Int
        var payloadCount: Int { count - headerCount }

        /// - Returns: nil if it does not end within these bytes.
        init?(at bytes: UnsafeRawBufferPointer) {
            guard let start = bytes.baseAddress, bytes.count >= 2 else { return nil }
            let second = unsafe start.load(fromByteOffset: 1, as: UInt8.self)
            isMasked = second & 0x80 != 0
            var payload = Int(second & 0x7F)
            var header = isMasked ? 6 : 2
            if payload == 126 {
                guard bytes.count >= 4 else { return nil }
                payload = unsafe Int(UInt16(bigEndian: start.loadUnaligned(fromByteOffset: 2, as: UInt16.self)))
                header += 2
            } else if payload == 127 {
                // No record holds as much.
                return nil
            }
            guard header + payload <= bytes.count else { return nil }
            headerCount = header
            count = header + payload
        }
    }
}
