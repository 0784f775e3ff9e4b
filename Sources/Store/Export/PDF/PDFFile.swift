/// The file's structure (ISO 32000-1 section 7.5): numbered objects, and a table of where they are.
struct PDFFile {
    private var objects: [[UInt8]?] = []

    /// A number for an object that is written later.
    mutating func reserve() -> Int {
        objects.append(nil)
        return objects.count
    }

    mutating func set(_ number: Int, _ body: String) {
        objects[number - 1] = Array(body.utf8)
    }

    mutating func add(_ body: String) -> Int {
        let number = reserve()
        set(number, body)
        return number
    }

    mutating func add(stream: [UInt8]) -> Int {
        let number = reserve()
        objects[number - 1] = Array("<< /Length \(stream.count) >>\nstream\n".utf8) + stream + Array("\nendstream".utf8)
        return number
    }

    func bytes(root: Int, info: Int) -> [UInt8] {
        // The four bytes above 127 tell programs that the file is not text.
        var bytes = Array("%PDF-1.4\n%".utf8) + [0xE2, 0xE3, 0xCF, 0xD3, 0x0A]
        var offsets: [Int] = []
        for (index, object) in objects.enumerated() {
            offsets.append(bytes.count)
            bytes += "\(index + 1) 0 obj\n".utf8
            bytes += object ?? Array("null".utf8)
            bytes += "\nendobj\n".utf8
        }
        let table = bytes.count
        // Each line of the table is exactly 20 bytes.
        bytes += "xref\n0 \(objects.count + 1)\n0000000000 65535 f \n".utf8
        for offset in offsets {
            let digits = String(offset)
            bytes += "\(String(repeating: "0", count: 10 - digits.count))\(digits) 00000 n \n".utf8
        }
        bytes += "trailer\n<< /Size \(objects.count + 1) /Root \(root) 0 R /Info \(info) 0 R >>\nstartxref\n\(table)\n%%EOF\n".utf8
        return bytes
    }

    /// A text string in UTF-16 with a byte order mark, in hexadecimal.
    static func text(_ text: String) -> String {
        "<FEFF" + hex(utf16: text) + ">"
    }

    static func hex(utf16 text: String) -> String {
        text.utf16.map { hex(UInt8($0 >> 8)) + hex(UInt8($0 & 0xFF)) }.joined()
    }

    static func hex(_ byte: UInt8) -> String {
        let digits = String(byte, radix: 16, uppercase: true)
        return byte < 16 ? "0" + digits : digits
    }
}
