"""Build `src/modularsql/demo/shop.sqlite`, a made-up coffee and kitchen shop.

    python scripts/make_demo_db.py

The same SQLite writes the same bytes on each run: fixed seed, no clock. Only `Random.random` is
used, the one method whose sequence Python promises to keep. Amounts are whole currency units.
What `queries.toml` needs of the data is checked by `tests/test_demo_database.py`.
"""

import random
import sqlite3
from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")
Row = tuple[Any, ...]

TARGET = Path(__file__).parents[1] / "src" / "modularsql" / "demo" / "shop.sqlite"
SEED = 163
ORDERS = 80
FIRST_ORDER_ID = 1001
FIRST_DAY = date(2025, 1, 2)
INSTALMENTS_FROM = 2500  # an order worth this much is paid in two or three instalments

SCHEMA = """
CREATE TABLE category (
  category_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
);
CREATE TABLE tag (
  tag_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
);
CREATE TABLE product (
  product_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  category_id INTEGER NOT NULL REFERENCES category(category_id),
  price INTEGER NOT NULL CHECK (price > 0)
);
CREATE TABLE product_tag (
  product_id INTEGER NOT NULL REFERENCES product(product_id),
  tag_id INTEGER NOT NULL REFERENCES tag(tag_id),
  PRIMARY KEY (product_id, tag_id)
);
CREATE TABLE customer (
  customer_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  email TEXT NOT NULL UNIQUE,
  city TEXT NOT NULL,
  newsletter INTEGER NOT NULL CHECK (newsletter IN (0, 1)),
  loyalty_card TEXT UNIQUE
);
CREATE TABLE sales_order (
  order_id INTEGER PRIMARY KEY,
  customer_id INTEGER NOT NULL REFERENCES customer(customer_id),
  ordered_on TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('paid', 'shipped', 'cancelled')),
  total INTEGER NOT NULL
);
CREATE TABLE order_line (
  order_id INTEGER NOT NULL REFERENCES sales_order(order_id),
  line_no INTEGER NOT NULL,
  product_id INTEGER NOT NULL REFERENCES product(product_id),
  quantity INTEGER NOT NULL CHECK (quantity > 0),
  unit_price INTEGER NOT NULL,
  PRIMARY KEY (order_id, line_no),
  UNIQUE (order_id, product_id)
);
CREATE TABLE payment (
  payment_id INTEGER PRIMARY KEY,
  order_id INTEGER NOT NULL REFERENCES sales_order(order_id),
  method TEXT NOT NULL CHECK (method IN ('card', 'invoice', 'bank transfer')),
  paid_on TEXT NOT NULL,
  amount INTEGER NOT NULL CHECK (amount > 0)
);
CREATE TABLE review (
  review_id INTEGER PRIMARY KEY,
  product_id INTEGER NOT NULL REFERENCES product(product_id),
  customer_id INTEGER NOT NULL REFERENCES customer(customer_id),
  stars INTEGER NOT NULL CHECK (stars BETWEEN 1 AND 5),
  written_on TEXT NOT NULL,
  UNIQUE (product_id, customer_id)
);
"""

PEOPLE = {  # two different customers are called Kari Solheim
    "Bergen": "Kari Solheim, Anders Fjelltun, Ingrid Mosbakk, Halvard Nesse, Silje Aarnes, "
    "Leila Haddadi, Jonas Brekkhus, Marit Oppdal, Emil Torvanger",
    "Oslo": "Sofie Granli, Henrik Tveitan, Amina Yusufi, Eirik Lundemo, Nora Skogheim, "
    "Pavel Dvornik, Camilla Rosten, Oskar Hegdal",
    "Trondheim": "Kari Solheim, Sindre Kvamsdal, Thea Bjørnsund, Bjarte Hestnes, Minh Dao",
    "Stavanger": "Guro Sandvoll, Petter Ytreland, Elise Haukås, Daniel Okorie",
    "Tromsø": "Maja Nordstrand, Isak Vintervoll",
    "Kristiansand": "Ragnhild Eikemo, Fredrik Sømme",
}
NEVER_BOUGHT = {"Emil Torvanger", "Oskar Hegdal", "Fredrik Sømme"}
NO_NEWSLETTER = {"Oslo", "Stavanger"}  # where the newsletter is not sent yet

PRODUCTS = (  # name, category, price, tags
    ("Lever espresso machine", "Machines", 6900, "premium"),
    ("Compact espresso machine", "Machines", 3400, "sale"),
    ("Milk frother", "Machines", 590, "gift sale"),
    ("Coffee roaster for the stove", "Machines", 1490, ""),
    ("Hand grinder", "Grinders", 890, "bestseller travel gift"),
    ("Flat burr grinder", "Grinders", 2690, "premium"),
    ("Spice mill", "Grinders", 340, "gift"),
    ("Glass pour-over brewer", "Brewers", 420, "gift"),
    ("Steel moka pot", "Brewers", 380, "bestseller travel"),
    ("Cloth filter brewer", "Brewers", 310, "sale"),
    ("Travel press", "Brewers", 290, "travel sale"),
    ("Paper filters, 100 pieces", "Brewers", 45, ""),
    ("Gooseneck kettle", "Kettles", 980, "bestseller"),
    ("Enamel kettle, blue", "Kettles", 520, "gift sale"),
    ("Kettle thermometer", "Kettles", 180, ""),
    ("Stoneware mug, pair", "Tableware", 260, "gift"),
    ("Espresso cups, set of six", "Tableware", 480, "gift premium"),
    ("Oak serving board", "Tableware", 550, "premium"),
    ("Linen tea towel", "Tableware", 120, "gift sale"),
    ("Digital scale", "Tools", 440, "bestseller"),
    ("Tamper, walnut handle", "Tools", 360, "premium"),
    ("Cleaning brush", "Tools", 85, ""),
    ("House blend beans, 1 kg", "Beans", 270, "bestseller organic"),
    ("Single-farm beans, 250 g", "Beans", 150, "organic gift"),
)
NEVER_SOLD = "Coffee roaster for the stove"
REVIEWS = {"Lever espresso machine": 26, "Hand grinder": 22}  # of others at most three
STARS = (5, 5, 5, 5, 5, 4, 4, 3, 1)
METHODS = ("card", "card", "invoice", "bank transfer")


def build(target: Path = TARGET) -> None:
    """Write the database to `target`, replacing what is there."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    try:
        connection.execute("PRAGMA page_size = 1024")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.executescript(SCHEMA)
        for table, rows in _tables(random.Random(SEED)).items():
            marks = ", ".join("?" * len(rows[0]))
            connection.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)
        target.unlink(missing_ok=True)
        connection.execute("VACUUM INTO ?", (str(target),))
    finally:
        connection.close()


def _tables(rng: random.Random) -> dict[str, Sequence[Row]]:
    """The rows of every table, parents before children."""
    categories = _numbered(name for _, name, _, _ in PRODUCTS)
    tags = _numbered(tag for *_, tags in PRODUCTS for tag in tags.split())
    customers = _customers(rng)
    lines = _lines(rng)
    orders = _orders(rng, customers, lines)
    return {
        "category": [(number, name) for name, number in categories.items()],
        "tag": [(number, name) for name, number in tags.items()],
        "product": [
            (number, name, categories[category], price)
            for number, (name, category, price, _) in enumerate(PRODUCTS, 1)
        ],
        "product_tag": [
            (number, tags[tag])
            for number, (*_, own) in enumerate(PRODUCTS, 1)
            for tag in own.split()
        ],
        "customer": customers,
        "sales_order": orders,
        "order_line": lines,
        "payment": _payments(rng, orders),
        "review": _reviews(rng, customers),
    }


def _customers(rng: random.Random) -> list[Row]:
    people = [(name, city) for city, names in PEOPLE.items() for name in names.split(", ")]
    rows: list[Row] = []
    for number, (name, city) in enumerate(_shuffled(rng, people), 1):
        namesakes = sum(row[1] == name for row in rows)
        address = name.lower().replace(" ", ".").translate(str.maketrans("øå", "oa"))
        email = f"{address}{namesakes + 1 if namesakes else ''}@example.com"
        card = f"K-{4000 + 37 * number}" if rng.random() < 0.5 else None
        rows.append((number, name, email, city, int(city not in NO_NEWSLETTER), card))
    return rows


def _lines(rng: random.Random) -> list[Row]:
    """One to four different products for each order; bestsellers are drawn more often."""
    pool = [
        product
        for product in enumerate(PRODUCTS, 1)
        if product[1][0] != NEVER_SOLD
        for _ in range(3 if "bestseller" in product[1][3] else 1)
    ]
    rows: list[Row] = []
    for order in range(FIRST_ORDER_ID, FIRST_ORDER_ID + ORDERS):
        basket = list(dict.fromkeys(_shuffled(rng, pool)))[: 1 + int(rng.random() * 4)]
        for line, (product, (_, _, price, tags)) in enumerate(basket, 1):
            quantity = 1 + int(rng.random() * 3) if price < 300 else 1
            paid = price * 8 // 10 if "sale" in tags.split() else price
            rows.append((order, line, product, quantity, paid))
    return rows


def _orders(rng: random.Random, customers: list[Row], lines: list[Row]) -> list[Row]:
    buyers = [number for number, name, *_ in customers if name not in NEVER_BOUGHT]
    days = sorted(_day(rng) for _ in range(ORDERS))
    rows: list[Row] = []
    for place, day in enumerate(days):
        order = FIRST_ORDER_ID + place
        total = sum(quantity * price for of, _, _, quantity, price in lines if of == order)
        status = "cancelled" if place % 13 == 5 else "paid" if place >= ORDERS - 6 else "shipped"
        rows.append((order, _pick(rng, buyers), day.isoformat(), status, total))
    return rows


def _payments(rng: random.Random, orders: list[Row]) -> list[Row]:
    """Every order that was not cancelled is paid in full, by one method."""
    rows: list[Row] = []
    for order, _, day, status, total in orders:
        if status == "cancelled":
            continue
        method = _pick(rng, METHODS)
        parts = _pick(rng, (2, 3)) if total >= INSTALMENTS_FROM else 1
        for part in range(parts):
            amount = total // parts + (total % parts if part == 0 else 0)
            paid_on = date.fromisoformat(day) + timedelta(days=30 * part)
            rows.append((len(rows) + 1, order, method, paid_on.isoformat(), amount))
    return rows


def _reviews(rng: random.Random, customers: list[Row]) -> list[Row]:
    pairs = [
        (product, customer)
        for product, (name, *_) in enumerate(PRODUCTS, 1)
        for customer, *_ in _shuffled(rng, customers)[: REVIEWS.get(name, int(rng.random() * 4))]
    ]
    days = sorted(_day(rng) for _ in pairs)
    return [
        (number, product, customer, _pick(rng, STARS), day.isoformat())
        for number, ((product, customer), day) in enumerate(
            zip(_shuffled(rng, pairs), days, strict=True), 1
        )
    ]


def _numbered(names: Iterable[str]) -> dict[str, int]:
    return {name: number for number, name in enumerate(dict.fromkeys(names), 1)}


def _day(rng: random.Random) -> date:
    return FIRST_DAY + timedelta(days=int(rng.random() * 300))


def _pick(rng: random.Random, items: Sequence[T]) -> T:
    return items[int(rng.random() * len(items))]


def _shuffled(rng: random.Random, items: Iterable[T]) -> list[T]:
    return sorted(items, key=lambda _: rng.random())


def main() -> None:
    """Build the shipped file and say so."""
    build()
    print(f"{TARGET.relative_to(TARGET.parents[3])}: {TARGET.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
