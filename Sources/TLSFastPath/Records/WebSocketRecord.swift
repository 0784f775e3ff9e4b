internal import Glibc
package import Sockets

/// The WebSocket frames in one TLS record (RFC 6455 section 5.2).
///
/// Media, short control messages and pongs usually arrive as one whole message in one frame in one record. Records with only such frames are
/// read here; all others go to libwebsockets.
package enum WebSocketRecord {
    package enum Content: Hashable {
        /// Whole messages and pongs, and nothing else.
        case messages
        /// Whole frames, some of another kind.
        case others
        /// Part of a frame, or a frame that is part of a message: later records depend on it.
        case fragments
    }

    /// - Parameter areMasked: true for frames from clients.
    package static func classify(_ record: UnsafeRawBufferPointer, areMasked: Bool) -> Content {
        var content = Content.messages
        var rest = unsafe record
        while let start = rest.baseAddress, unsafe !rest.isEmpty {
            guard let frame = unsafe Frame(at: rest) else { return .fragments }
            let first = unsafe start.load(as: UInt8.self)
            // Continuations, and first frames of a message that are not final.
            if first & 0x0F == 0 || first & 0x80 == 0 { return .fragments }
            switch MessageKind(rawValue: first) {
            case .text, .binary: break
            case .pong where frame.payloadCount < 126: break
            default: content = .others
            }
            if frame.isMasked != areMasked { content = .others }
            unsafe rest = unsafe UnsafeRawBufferPointer(rebasing: rest[frame.count...])
        }
        return content
    }

    /// Unmasks the messages and pongs of a record in place and passes them on one by one.
    package static func forEachMessage(in record: UnsafeMutableRawBufferPointer, _ body: (UnsafeRawBufferPointer, MessageKind) -> Void) {
        var rest = unsafe record
        while let first = unsafe rest.first, let kind = MessageKind(rawValue: first),
            let frame = unsafe Frame(at: UnsafeRawBufferPointer(rest))
        {
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

    /// The extent of a frame.
    private struct Frame {
        let isMasked: Bool
        let headerCount: Int
        /// Including the header.
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
                // Longer than a record.
                return nil
            }
            guard header + payload <= bytes.count else { return nil }
            headerCount = header
            count = header + payload
        }
    }
}
