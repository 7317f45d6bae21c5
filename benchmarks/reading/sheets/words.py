"""Define words and fields of the made sheets; tuning and test share none."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Field:
    """A column to make: its header, the kind of its values, its unit."""

    name: str
    kind: str
    unit: str = ""


def _fields(text: str) -> list[Field]:
    """Return the fields in "name=kind, name=kind"."""
    pairs = (item.split("=") for item in text.split(","))
    return [Field(name.strip(), kind.strip()) for name, kind in pairs]


TOPICS = {
    "tuning": [
        _fields(
            "Order ID=id, Customer=name, Order Date=date, Quantity=int, Unit Price=number, "
            "Discount=ratio, Region=category, Paid=bool, Remarks=text, SKU=code"
        ),
        _fields(
            "Employee No=id, Full Name=name, Department=category, Hire Date=date, Salary=number, "
            "E-mail=email, Active=bool, Grade=word, Badge=code"
        ),
        _fields(
            "Artikelnummer=code, Bezeichnung=word, Menge=int, Preis=number, Lieferant=name, "
            "Eingang=date, Lagerort=category, Bemerkung=text"
        ),
        _fields(
            "Station=code, Latitude=ratio, Longitude=ratio, Elevation=int, Installed=date, "
            "Operator=name, Status=category, Comment=text"
        ),
        _fields(
            "项目编号=code, 项目名称=word, 预算=number, 实际支出=number, 开始日期=date, "
            "负责人=name, 状态=category"
        ),
        _fields(
            "Title=word, Director=name, Release Year=year, Budget=number, Genre=category, "
            "Synopsis=text, Rating=ratio, Contact=email"
        ),
    ],
    "test": [
        _fields(
            "Invoice=id, Vendor=name, Due=date, Amount=number, Tax Rate=ratio, Currency=category, "
            "Approved=bool, Memo=text, PO Number=code"
        ),
        _fields(
            "Patient=name, Admission=date, Ward=category, Age=int, Weight=number, Insured=bool, "
            "Diagnosis=text, Record=code, Mailbox=email"
        ),
        _fields(
            "Référence=code, Libellé=word, Quantité=int, Prix unitaire=number, Fournisseur=name, "
            "Date de livraison=date, Famille=category, Observations=text"
        ),
        _fields(
            "Flight=code, Origin=category, Pilot=name, Departure=date, Passengers=int, "
            "Load Factor=ratio, Fuel Burn=number, Delayed=bool, Notes=text"
        ),
        _fields(
            "番号=id, 氏名=name, 部署=category, 入社日=date, 給与=number, 在籍=bool, "
            "備考=text, 社員証=code"
        ),
        _fields(
            "Parcel=id, Owner=name, Surveyed=date, Hectares=number, Land Use=category, "
            "Assessed Value=int, Description=text, Built=year, Web Contact=email, Deed=code, "
            "Village=word"
        ),
    ],
}

WORDS = {
    "tuning": (
        "amber basalt cedar delta ember falcon garnet harbor indigo juniper kestrel lagoon maple "
        "nectar onyx prairie quartz raven saffron timber umber valley willow xenon yarrow zephyr "
        "anchor bramble canyon dune estuary fjord glacier heath islet jetty knoll ledge marsh "
        "narrows orchard pasture quarry ridge summit thicket upland vineyard warren yonder"
    ).split(),
    "test": (
        "acorn beacon cobalt drift easel fable gavel hazel ivory jasper kettle lantern mosaic "
        "nimbus opal pebble quiver rustic sable tulip urchin velvet walnut yeoman zinnia arbor "
        "blossom cinder dapple eaves ferry grove hollow inkwell jubilee kernel locket meadow "
        "nutmeg oasis parcel quill rivet sonnet trellis usher vessel wicker yardarm zenith"
    ).split(),
}
