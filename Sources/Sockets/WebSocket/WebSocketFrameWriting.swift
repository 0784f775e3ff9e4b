internal import Wire

/// The opcodes of whole messages and control frames (RFC 6455 section 5.2). A continuation has none of its own here.
package enum WebSocketOpcode: UInt8, Sendable {
    case text = 1
    case binary = 2
    case close = 8
    case ping = 9
    case pong = 10

    var isControl: Bool { rawValue >= Self.close.rawValue }
}

/// The masking of a client's frames (RFC 6455 section 5.3).
enum WebSocketMask {
    static var byteCount: Int { 4 }

    /// Masks or unmasks bytes in place.
    ///
    /// - Parameter mask: its bytes in the order of the frame, as loaded from there.
    /// - Returns: the mask for the bytes that follow.
    @discardableResult @inline(__always)
    static func apply(_ mask: UInt32, to bytes: UnsafeMutableRawBufferPointer) -> UInt32 {
        guard var start = bytes.baseAddress else { return mask }
        var left = bytes.count
        let wide = UInt64(mask) << 32 | UInt64(mask)
        while left >= 8 {
            unsafe start.storeBytes(of: start.loadUnaligned(as: UInt64.self) ^ wide, as: UInt64.self)
            unsafe start += 8
            left -= 8
        }
        var tail = mask
        if left & 4 != 0 {
            unsafe start.storeBytes(of: start.loadUnaligned(as: UInt32.self) ^ mask, as: UInt32.self)
            unsafe start += 4
        }
        if left & 2 != 0 {
            unsafe start.storeBytes(of: start.loadUnaligned(as: UInt16.self) ^ UInt16(truncatingIfNeeded: tail), as: UInt16.self)
            unsafe start += 2
            tail >>= 16
        }
        if left & 1 != 0 {
            unsafe start.storeBytes(of: start.load(as: UInt8.self) ^ UInt8(truncatingIfNeeded: tail), as: UInt8.self)
        }
        let used = UInt32(truncatingIfNeeded: left & 3) * 8
        return mask &>> used | mask &<< (0 &- used)
    }
}

// MARK: Frames that leave

extension WebSocketFramer {
    /// Writes the header of one final unmasked frame into the bytes before its payload, of which it needs up to 10.
    ///
    /// - Returns: where the frame starts.
    @inline(__always)
    package static func writeHeader(
        _ opcode: WebSocketOpcode, payloadCount: Int, before payload: UnsafeMutableRawPointer
    ) -> UnsafeMutableRawPointer {
        unsafe writeHeader(opcode, payloadCount, maskBit: 0, before: payload)
    }

    /// Writes the header of one final masked frame into the bytes before its payload, of which it needs up to 14, and masks the payload in
    /// place.
    ///
    /// - Parameter mask: random, and another for each frame (RFC 6455 section 5.3).
    /// - Returns: where the frame starts.
    package static func writeMaskedHeader(
        _ opcode: WebSocketOpcode, payloadCount: Int, before payload: UnsafeMutableRawPointer, mask: UInt32
    ) -> UnsafeMutableRawPointer {
        unsafe WebSocketMask.apply(mask, to: UnsafeMutableRawBufferPointer(start: payload, count: payloadCount))
        let key = unsafe payload - WebSocketMask.byteCount
        unsafe key.storeBytes(of: mask, as: UInt32.self)
        return unsafe writeHeader(opcode, payloadCount, maskBit: 0x80, before: key)
    }

    /// Writes opcode and length in the shortest form (RFC 6455 section 5.2).
    @inline(__always)
    private static func writeHeader(
        _ opcode: WebSocketOpcode, _ count: Int, maskBit: UInt8, before end: UnsafeMutableRawPointer
    ) -> UnsafeMutableRawPointer {
        assert(count < 126 || !opcode.isControl, "a control frame has at most 125 bytes, not \(count)")
        let start: UnsafeMutableRawPointer
        if count < 126 {
            unsafe start = unsafe end - 2
            unsafe start.storeBytes(of: maskBit | UInt8(count), toByteOffset: 1, as: UInt8.self)
        } else if count < 65_536 {
            unsafe start = unsafe end - 4
            unsafe start.storeBytes(of: maskBit | 126, toByteOffset: 1, as: UInt8.self)
            unsafe start.storeBytes(of: UInt16(count).bigEndian, toByteOffset: 2, as: UInt16.self)
        } else {
            unsafe start = unsafe end - 10
            unsafe start.storeBytes(of: maskBit | 127, toByteOffset: 1, as: UInt8.self)
            unsafe start.storeBytes(of: UInt64(count).bigEndian, toByteOffset: 2, as: UInt64.self)
        }
        unsafe start.storeBytes(of: 0x80 | opcode.rawValue, as: UInt8.self)
        return unsafe start
    }
}

// MARK: CLOSE frames

extension WebSocketFramer {
    /// Stands for a CLOSE frame without a code, and is never sent (RFC 6455 section 7.4.1).
    static var noCloseCode: UInt16 { 1005 }

    /// Whether a CLOSE frame may have this code (RFC 6455 section 7.4.1, and IANA's registry for 1012 to 1014).
    static func mayBeSent(_ code: UInt16) -> Bool {
        switch code {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }

    /// The code in the payload of a CLOSE frame from the peer, whose reason must be UTF-8 (RFC 6455 section 5.5.1).
    static func code(ofClose payload: UnsafeRawBufferPointer) throws(Violation) -> UInt16 {
        guard payload.count >= 2 else { return noCloseCode }
        let code = unsafe UInt16(payload[0]) << 8 | UInt16(payload[1])
        guard mayBeSent(code) else { throw Violation(reason: .webSocketProtocol) }
        guard unsafe UTF8Validator.isValid(UnsafeRawBufferPointer(rebasing: payload.dropFirst(2))) else {
            throw Violation(reason: .invalidText)
        }
        return code
    }

    /// The payload of a CLOSE frame: the code and as many whole characters of the phrase as fit into 125 bytes. Empty for 1005.
    package static func closePayload(_ code: UInt16, _ phrase: String) -> [UInt8] {
        guard code != noCloseCode else { return [] }
        assert(mayBeSent(code), "\(code) must not be sent in a CLOSE frame")
        var payload = [UInt8(code >> 8), UInt8(code & 0xFF)]
        for character in phrase.unicodeScalars {
            let bytes = UTF8.encode(character)!
            guard payload.count + bytes.count <= 125 else { break }
            payload += bytes
        }
        return payload
    }
}
