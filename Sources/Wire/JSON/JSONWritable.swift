/// A value that writes itself as JSON, for what is asked for often and is long: `Encodable` makes a few boxes for each member and looks up
/// at run time what is known when it is compiled.
package protocol JSONWritable {
    func write(to json: inout JSONOutput)
}

extension Array: JSONWritable where Element: JSONWritable {
    package func write(to json: inout JSONOutput) {
        json.writeArray(self) { $1.write(to: &$0) }
    }
}

/// Nil is null.
extension Optional: JSONWritable where Wrapped: JSONWritable {
    package func write(to json: inout JSONOutput) {
        if let self { self.write(to: &json) } else { json.writeNull() }
    }
}

/// Members by their names, and what they are.
extension JSONOutput {
    package mutating func writeMember(_ name: StaticString, _ value: some JSONWritable) {
        writeMember(name)
        value.write(to: &self)
    }

    package mutating func writeMember(_ name: StaticString, _ text: String) {
        writeMember(name)
        write(text)
    }

    package mutating func writeMember(_ name: StaticString, _ truth: Bool) {
        writeMember(name)
        write(truth)
    }

    package mutating func writeMember(_ name: StaticString, _ number: some FixedWidthInteger) {
        writeMember(name)
        write(number)
    }

    /// Nil is null.
    package mutating func writeMember(_ name: StaticString, _ number: UInt32?) {
        writeMember(name)
        if let number { write(number) } else { writeNull() }
    }
}
