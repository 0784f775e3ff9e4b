internal import Sockets
package import Wire

/// Finds frames from a client that a server must refuse (RFC 6455 sections 5.1, 5.2, 5.4, 5.5 and 7.4) or that announce too long a message,
/// independently of the boundaries of reads and records, and removes pings from the stream.
///
/// libwebsockets 4.1 accepts frames without a mask, lengths of 2⁶³ and more, and CLOSE frames with any code and any reason. It reports a
/// frame's length with the first byte of its payload. It answers the first of several pings, where RFC 6455 section 5.5.3 asks for the last.
package struct ClientFrameScanner {
    private enum Fault: Error {
        case protocolViolation, invalidText, messageTooBig

        var reason: CloseReason {
            switch self {
            case .protocolViolation: .webSocketProtocol
            case .invalidText: .invalidText
            case .messageTooBig: .messageTooBig
            }
        }
    }

    private enum Expected {
        case first
        case second(opcode: UInt8)
        case length(opcode: UInt8, value: UInt64, bytesLeft: UInt8)
        /// Mask and payload of a ping or CLOSE frame, collected in `control`.
        case control(opcode: UInt8, bytesLeft: UInt8)
    }

    private var expected = Expected.first
    /// The bytes of the current frame's mask and payload that have not arrived yet.
    private var bytesToSkip: UInt64 = 0
    /// At most 129 bytes.
    private var control: [UInt8] = []
    private var isInMessage = false
    /// How many bytes the next frames of the current message may announce.
    private var messageBytesLeft: UInt64 = 0

    package init() {}

    /// The result of a scan.
    package struct Findings: Hashable, Sendable {
        /// The number of bytes left for libwebsockets: all except those of pings and those from a violation on.
        package var kept = 0
        package var violation: Violation?
        /// The payload of the last ping that ended.
        package var ping: [UInt8]?
        /// The code of a valid CLOSE frame that ended; 1005 if it has none (RFC 6455 section 7.1.5).
        package var closeCode: UInt16?
    }

    package struct Violation: Hashable, Sendable {
        /// The index of the first byte that shows it.
        package var offset: Int
        package var reason: CloseReason
    }

    /// Checks the next bytes of the stream, and moves those that are left for libwebsockets to the front.
    package mutating func scan(_ bytes: UnsafeMutableRawBufferPointer) -> Findings {
        var findings = Findings()
        var offset = 0
        while offset < bytes.count {
            var step = 1
            if bytesToSkip > 0 {
                step = Int(min(bytesToSkip, UInt64(bytes.count - offset)))
                bytesToSkip -= UInt64(step)
            } else {
                let isOfPing: Bool
                do throws(Fault) {
                    isOfPing = try unsafe accept(bytes[offset], &findings)
                } catch {
                    findings.violation = Violation(offset: offset, reason: error.reason)
                    return findings
                }
                if isOfPing {
                    offset += 1
                    continue
                }
            }
            if findings.kept < offset, let start = bytes.baseAddress {
                unsafe (start + findings.kept).copyMemory(from: start + offset, byteCount: step)
            }
            findings.kept += step
            offset += step
        }
        return findings
    }

    /// Takes one byte of a header or a control frame.
    ///
    /// - Returns: whether it belongs to a ping.
    /// - Throws: why the frame is refused.
    private mutating func accept(_ byte: UInt8, _ findings: inout Findings) throws(Fault) -> Bool {
        switch expected {
        case .first:
            let opcode = try readFirst(byte)
            expected = .second(opcode: opcode)
            return opcode == Self.ping
        case .second(let opcode):
            try readSecond(byte, opcode)
            return opcode == Self.ping
        case .length(let opcode, let value, let bytesLeft):
            // The most significant bit must be 0 (RFC 6455 section 5.2).
            guard bytesLeft < 8 || byte & 0x80 == 0 else { throw .protocolViolation }
            let value = value << 8 | UInt64(byte)
            if bytesLeft > 1 {
                expected = .length(opcode: opcode, value: value, bytesLeft: bytesLeft - 1)
            } else {
                try endHeader(opcode, payload: value)
            }
            return false
        case .control(let opcode, let bytesLeft):
            control.append(byte)
            expected = bytesLeft > 1 ? .control(opcode: opcode, bytesLeft: bytesLeft - 1) : .first
            if bytesLeft == 1 { try endControl(opcode, &findings) }
            return opcode == Self.ping
        }
    }

    private static var close: UInt8 { 8 }
    private static var ping: UInt8 { 9 }

    /// - Returns: the opcode.
    private mutating func readFirst(_ byte: UInt8) throws(Fault) -> UInt8 {
        let (opcode, isFinal) = (byte & 0x0F, byte & 0x80 != 0)
        guard byte & 0x70 == 0 else { throw .protocolViolation }
        switch opcode {
        case 0:
            guard isInMessage else { throw .protocolViolation }
            isInMessage = !isFinal
        case 1, 2:
            guard !isInMessage else { throw .protocolViolation }
            isInMessage = !isFinal
            messageBytesLeft = UInt64(MessageAssembly.limit(isBinary: opcode == 2))
        case 8, 9, 10: guard isFinal else { throw .protocolViolation }
        default: throw .protocolViolation
        }
        return opcode
    }

    private mutating func readSecond(_ byte: UInt8, _ opcode: UInt8) throws(Fault) {
        guard byte & 0x80 != 0 else { throw .protocolViolation }
        let length = byte & 0x7F
        guard opcode < 8 || length < 126 else { throw .protocolViolation }
        switch length {
        case 1 where opcode == Self.close: throw .protocolViolation
        case 126: expected = .length(opcode: opcode, value: 0, bytesLeft: 2)
        case 127: expected = .length(opcode: opcode, value: 0, bytesLeft: 8)
        case _ where opcode == Self.close || opcode == Self.ping:
            control.removeAll(keepingCapacity: true)
            expected = .control(opcode: opcode, bytesLeft: Self.maskBytes + length)
        default: try endHeader(opcode, payload: UInt64(length))
        }
    }

    private static var maskBytes: UInt8 { 4 }

    private mutating func endHeader(_ opcode: UInt8, payload: UInt64) throws(Fault) {
        if opcode < 8 {
            guard payload <= messageBytesLeft else { throw .messageTooBig }
            messageBytesLeft -= payload
        }
        expected = .first
        bytesToSkip = payload + UInt64(Self.maskBytes)
    }

    private mutating func endControl(_ opcode: UInt8, _ findings: inout Findings) throws(Fault) {
        let payload = control.dropFirst(Int(Self.maskBytes)).enumerated().map { $1 ^ control[$0 % Int(Self.maskBytes)] }
        control = []
        guard opcode == Self.close else {
            findings.ping = payload
            return
        }
        guard payload.count >= 2 else {
            findings.closeCode = 1005
            return
        }
        let code = UInt16(payload[0]) << 8 | UInt16(payload[1])
        guard Self.mayBeSent(code) else { throw .protocolViolation }
        guard String(validating: payload.dropFirst(2), as: UTF8.self) != nil else { throw .invalidText }
        findings.closeCode = code
    }

    /// Whether a CLOSE frame may have this code (RFC 6455 section 7.4.1, and IANA's registry for 1012 to 1014).
    package static func mayBeSent(_ code: UInt16) -> Bool {
        switch code {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }
}
